package tap

import "github.com/spf13/pflag"

// Listen holds the flags for a server at a URL.
type Listen struct {
	Address  string
	Upstream string
	Expose   bool
	Origins  []string
	OAuth    string
}

// flags defines the flags.
func (l *Listen) flags(f *pflag.FlagSet) {
	f.StringVar(&l.Address, "listen", "", "in place of an agent: listen on `ADDR`, such as 127.0.0.1:7000, for clients of the server at --upstream")
	f.StringVar(&l.Upstream, "upstream", "", "with --listen, the `URL` of the server: http, https, or h2c (HTTP/2 without TLS)")
	f.BoolVar(&l.Expose, "expose", false, "with --listen, let other machines connect; there is no login")
	f.StringSliceVar(&l.Origins, "allow-origin", nil, "with --listen, also pass on requests of web pages of an `origin` such as https://app.example")
	f.StringVar(&l.OAuth, "oauth", "rewrite", "with --listen, `what` is done to the URLs of OAuth documents: rewrite (to this address) or pass")
}

// On reports whether acptap must listen.
func (l *Listen) On() bool { return l.Address != "" }
