package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/termtext"
)

// listenFlags are the flags of acptap proxy for a server at a URL.
type listenFlags struct {
	tap.Listen
	server *url.URL // parsed from Upstream
}

// clientFlags defines the flags about clients, for a command that answers clients itself.
func (c *listenFlags) clientFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Address, "listen", "", "in place of stdio: play over HTTP and WebSockets on `ADDR`, such as 127.0.0.1:7000")
	f.BoolVar(&c.Expose, "expose", false, "with --listen, let other machines connect; there is no login")
	f.StringSliceVar(&c.Origins, "allow-origin", nil, "with --listen, also answer web pages of an `origin` such as https://app.example")
}

// guard returns the hosts and origins that a listener's clients may name.
func (c *listenFlags) guard(host string) relay.Guard {
	return relay.Guard{Exposed: c.Expose, Names: []string{host, hostname()}, Origins: c.Origins}
}

// check returns an error for invalid flags or combinations.
func (c *listenFlags) check(f *pflag.FlagSet, args []string) error {
	if !c.On() {
		return needsListen(f, "upstream", "expose", "allow-origin", "oauth")
	}
	if name := cli.Given(f, "sessions", "mcp", "parent", "watch"); name != "" {
		return fmt.Errorf("--%s is about an agent that acptap runs, and --listen is about a server", name)
	}
	if len(args) > 0 {
		return fmt.Errorf("--listen takes the server's --upstream URL, not a command such as %q", args[0])
	}
	if c.Upstream == "" {
		return errors.New("--listen needs --upstream URL, such as --upstream http://127.0.0.1:3001/mcp")
	}
	if err := cmp.Or(cli.OneOf("oauth", c.OAuth, "rewrite", "pass"), c.checkOrigins()); err != nil {
		return err
	}
	u, err := url.Parse(c.Upstream)
	if err != nil || u.Hostname() == "" {
		return errors.New("--upstream is not a URL such as http://127.0.0.1:3001/mcp") // do not quote it: it may contain a password
	}
	switch u.Scheme {
	case "http", "https", "h2c":
	case "ws", "wss":
		u.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	default:
		return fmt.Errorf("--upstream is a URL that begins with http://, https:// or h2c://, not with %q", u.Scheme)
	}
	u.Fragment, u.RawFragment = "", ""
	c.server = u
	return nil
}

// needsListen returns an error if one of the named flags is given, without --listen.
func needsListen(f *pflag.FlagSet, names ...string) error {
	if name := cli.Given(f, names...); name != "" {
		return fmt.Errorf("--%s needs --listen ADDR, such as --listen 127.0.0.1:7000", name)
	}
	return nil
}

func (c *listenFlags) checkOrigins() error {
	for _, o := range c.Origins {
		if u, err := url.Parse(o); o != "null" && (err != nil || u.Host == "" || o != u.Scheme+"://"+u.Host) { // null: the origin of pages opened from files
			return fmt.Errorf("--allow-origin %q is not an origin such as https://app.example: a scheme and a host, without a path", o)
		}
	}
	return nil
}

// bind starts listening and returns the host and port for clients.
func (c *listenFlags) bind() (ln net.Listener, hostport string, err error) {
	host, port, err := net.SplitHostPort(c.Address)
	switch {
	case err == nil:
	case strings.Trim(c.Address, "0123456789") == "":
		host, port = "", c.Address
	default:
		return nil, "", fmt.Errorf("--listen is an address with a port, such as 127.0.0.1:7000, not %q", c.Address)
	}
	if host == "" && !c.Expose {
		host = "127.0.0.1"
	}
	ln, err = net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, "", fmt.Errorf("--listen %s: another program listens there; with port 0, a free one is found", c.Address)
		}
		return nil, "", fmt.Errorf("--listen %s: %w", c.Address, err)
	}
	at := ln.Addr().(*net.TCPAddr)
	if !at.IP.IsLoopback() && !c.Expose {
		ln.Close()
		return nil, "", fmt.Errorf("--listen %s: others could connect, and there is no login; --expose allows it", c.Address)
	}
	if net.ParseIP(host) != nil && !at.IP.IsUnspecified() {
		host = at.IP.String()
	} else if host == "" || at.IP.IsUnspecified() {
		host = cmp.Or(hostname(), "localhost")
	}
	return ln, net.JoinHostPort(host, fmt.Sprint(at.Port)), nil
}

// isItself reports whether server is the URL of the listener, in which case acptap would
// forward each request to itself.
func isItself(ctx context.Context, server *url.URL, ln net.Listener) bool {
	at := ln.Addr().(*net.TCPAddr)
	port := server.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[server.Scheme == "https"]
	}
	if port != fmt.Sprint(at.Port) {
		return false
	}
	ips, _ := net.DefaultResolver.LookupIPAddr(ctx, server.Hostname()) // ignore errors: a host that is unknown now may become known
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(ips, func(ip net.IPAddr) bool {
		if ip.IP.IsUnspecified() || ip.IP.Equal(at.IP) {
			return true
		}
		return at.IP.IsUnspecified() && slices.ContainsFunc(own, func(a net.Addr) bool {
			n, ok := a.(*net.IPNet)
			return ok && n.IP.Equal(ip.IP)
		})
	})
}

func hostname() string {
	name, _ := os.Hostname() // empty if the machine has none
	return name
}

// sealTime limits how long a listener may compress tapes when it shuts down. No editor
// waits for it, and it may have thousands of sessions open; container runtimes kill after
// 10 s.
const sealTime = 5 * time.Second

// Listen forwards traffic between clients and a server until a signal ends it.
func (r *proxyRest) Listen(ctx context.Context, dir string, o *tap.Options, stderr io.Writer) error {
	debug.SetGCPercent(30) // the same as when acptap runs an agent
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	w := &cli.Warnings{Stderr: stderr}
	defer w.Wait()
	c := &r.listen
	ln, hostport, err := c.bind()
	if err != nil {
		return err
	}
	if isItself(ctx, c.server, ln) {
		ln.Close()
		return fmt.Errorf("--upstream %s is where --listen %s is: give the address of the server", redact.Target(c.Upstream), c.Address)
	}
	store, err := tap.OpenStore(dir, w)
	if err != nil {
		w.Print("not recording: %v", err)
	}
	server := newRelay(store, o.Start, w)
	if store != nil {
		store.EndTime = sealTime
		if sender := newFollower(o.OTLP, store, w); sender != nil {
			server.Begin = sendingTapes(server.Begin, sender)
			defer sender.End()
		}
	}
	host, _, _ := net.SplitHostPort(hostport)
	server.Upstream = c.server
	server.Address = &url.URL{Scheme: "http", Host: hostport}
	server.Guard, server.KeepOAuth = c.guard(host), c.OAuth == "pass"
	fmt.Fprintf(stderr, "acptap: listening on %s%s\n", server.Address, c.server.EscapedPath())
	err = relay.Serve(ctx, ln, server)
	stop() // a second signal ends acptap at once
	server.Close("acptap was told to end")
	return err
}

// sendingTapes wraps begin so that sender ships each new tape.
func sendingTapes(begin func(relay.Facts) (relay.Journal, error), sender *follower) func(relay.Facts) (relay.Journal, error) {
	return func(f relay.Facts) (relay.Journal, error) {
		journal, err := begin(f)
		if r, ok := journal.(*record.Recorder); ok && err == nil {
			sender.Begin(r.Tape())
		}
		return journal, err
	}
}

// newRelay returns a relay that records into store, or nowhere if store is nil. The
// caller sets its upstream.
func newRelay(store *record.Store, start record.Start, w *cli.Warnings) *relay.Relay {
	r := &relay.Relay{Complain: func(err error) {
		w.Print("not recording: %s", termtext.Line(err.Error())) // a panic may quote the traffic
	}}
	if store == nil {
		return r
	}
	key, err := store.Key()
	if err != nil {
		r.Complain(err)
		return r
	}
	r.Keep = func(h http.Header) []wire.Header { return key.Headers(h) }
	r.KeepTarget = redact.Target
	r.Begin = func(f relay.Facts) (relay.Journal, error) {
		start := start
		start.Transport, start.Upstream = f.Transport, f.Upstream
		return tap.Begin(store, start)
	}
	return r
}
