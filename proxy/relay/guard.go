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

// refusal returns why a request is not passed on, empty if it is. The server cannot
// see these two any more: the Host that it gets is its own. A page in a browser can
// reach this address under a name of its own (DNS rebinding), but not without these
// heads.
func (r *Relay) refusal(in *http.Request) string {
	if !r.ownHost(in.Host) {
		return fmt.Sprintf("Host %q is not this address: dial %s", in.Host, r.Address)
	}
	for _, o := range in.Header.Values("Origin") {
		if !r.allowed(o) {
			return fmt.Sprintf("Origin %q is not allowed: acptap proxy --allow-origin", o)
		}
	}
	return ""
}

// ownHost reports whether a Host names this listener. Ports may differ, as behind one
// that was forwarded.
func (r *Relay) ownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || r.Exposed
	}
	return host == "localhost" || slices.ContainsFunc(r.Names, func(name string) bool { return strings.EqualFold(name, host) })
}

func (r *Relay) allowed(origin string) bool {
	if slices.ContainsFunc(r.Origins, func(o string) bool { return strings.EqualFold(o, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && ip.IsLoopback()
}
