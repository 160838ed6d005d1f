package relay

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A Guard keeps web pages in a browser away from a listener. Such a page can reach it
// under a name of its own (DNS rebinding), but cannot avoid the Host header, nor the
// header that reveals whose page it is: Origin, or, where a browser sends none, as for an
// image or a link, Sec-Fetch-Site and Referer. The zero value is for a listener that only
// this machine can reach.
type Guard struct {
	Exposed bool     // other machines may connect: any address is a valid Host
	Names   []string // valid as Host besides localhost and addresses
	Origins []string // valid as Origin besides those of this machine
}

// Refusal returns why a request to the listener at address is refused, or "" if it is
// allowed. A server reached through a Relay cannot check this itself, because the Relay
// replaces the Host with the server's own.
func (g *Guard) Refusal(in *http.Request, address *url.URL) string {
	if !g.ownHost(in.Host) && !withoutHost(in) {
		return fmt.Sprintf("Host %q is not this address: dial %s", in.Host, address)
	}
	origins := in.Header.Values("Origin")
	for _, o := range origins {
		if !g.allowed(o) {
			return fmt.Sprintf("Origin %q is not allowed; --allow-origin allows it", o)
		}
	}
	if len(origins) == 0 {
		return fromOtherPage(in)
	}
	return ""
}

// fromOtherPage returns why a request without an Origin is refused, or "" if it is allowed.
// It is refused if a page of another origin embeds the URL or links to it: that page cannot
// read the answer, so even an allowed origin has no use for it. Old browsers send no
// Sec-Fetch-Site, and others only over https or to this machine; Referer is sent unless the
// page forbids it.
func fromOtherPage(in *http.Request) string {
	switch site := in.Header.Get("Sec-Fetch-Site"); strings.ToLower(site) {
	case "", "none", "same-origin":
	default:
		return fmt.Sprintf("a web page elsewhere causes it (Sec-Fetch-Site %q)", site)
	}
	referer := in.Header.Get("Referer")
	if referer == "" {
		return ""
	}
	if u, err := url.Parse(referer); err != nil || !strings.EqualFold(u.Host, in.Host) {
		return "a web page elsewhere causes it (Referer)"
	}
	return ""
}

// withoutHost reports whether a request has no host, which HTTP/1.0 allows. Browsers speak
// later versions, which require one.
func withoutHost(in *http.Request) bool { return in.Host == "" && !in.ProtoAtLeast(1, 1) }

// ownHost reports whether a Host names this listener. Its port may differ, such as when it
// is forwarded.
func (g *Guard) ownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || g.Exposed
	}
	return host == "localhost" || slices.ContainsFunc(g.Names, func(name string) bool { return strings.EqualFold(name, host) })
}

func (g *Guard) allowed(origin string) bool {
	if slices.ContainsFunc(g.Origins, func(o string) bool { return strings.EqualFold(o, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && ip.IsLoopback()
}
