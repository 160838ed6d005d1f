package relay

import (
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
)

// httpScheme returns http or https.
func httpScheme(u *url.URL) string {
	if u.Scheme == "https" {
		return "https"
	}
	return "http"
}

// origin returns a URL's scheme, host and port in canonical spelling.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[httpScheme(u)]
	}
	return httpScheme(u) + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// forClient returns the URL, absolute or only a path, at which the client reaches a URL
// of the server. A URL elsewhere is returned unchanged. Everything after the host keeps
// its spelling.
func (r *Relay) forClient(reference string) string {
	u, err := url.Parse(reference)
	if err != nil {
		return reference
	}
	switch {
	case u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && origin(u) == origin(r.Upstream):
		_, rest, _ := strings.Cut(reference, "://")
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			return r.Address.String() + rest[i:]
		}
		return r.Address.String()
	case u.Host == "" && u.Scheme == "" && strings.HasPrefix(reference, "/"):
		return r.Address.Path + reference
	}
	return reference
}

// rewriteHead rewrites values in a response's head that the client could not reach, or
// would not accept from this address. It returns the headers that it changed.
func (r *Relay) rewriteHead(h http.Header) http.Header {
	changed := http.Header{}
	change := func(name string, to func(string) string) {
		values := h.Values(name)
		after := make([]string, len(values))
		differs := false
		for i, v := range values {
			after[i] = to(v)
			differs = differs || after[i] != v
		}
		if differs {
			h[name], changed[name] = after, after
		}
	}
	change("Location", r.forClient)
	change("Set-Cookie", r.cookie)
	if !r.KeepOAuth {
		change("Www-Authenticate", r.challenge)
	}
	return changed
}

// cookie returns a Set-Cookie that a client keeps for this address: without Domain, which
// is the server's, and without Secure, which requires https.
func (r *Relay) cookie(v string) string {
	parts := strings.Split(v, ";")
	kept := parts[:1]
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch strings.ToLower(name) {
		case "domain", "secure":
			continue
		case "path":
			if r.Address.Path != "" && strings.HasPrefix(value, "/") {
				part = " " + name + "=" + r.Address.Path + value
			}
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ";")
}

// resourceMetadata is the parameter of RFC 9728, section 5.1.
var resourceMetadata = lazyregexp.New(`(?i)(\bresource_metadata\s*=\s*"?)([^"\s,]+)`)

// challenge returns a WWW-Authenticate whose document the client can fetch from this
// address.
func (r *Relay) challenge(v string) string {
	m := resourceMetadata().FindStringSubmatchIndex(v)
	if m == nil {
		return v
	}
	return v[:m[4]] + r.forClient(v[m[4]:m[5]]) + v[m[5]:]
}

// A document is a response body that was read whole.
type document struct {
	came      []byte
	err       error  // error after came; io.EOF if the body is whole
	rewritten []byte // nil if it is passed on unchanged
}

// document returns a protected resource's metadata (RFC 9728), and its rewritten form for
// the client: clients refuse metadata whose resource is not the URL that they dialled
// (section 3.3). It returns an empty document for other responses.
func (x *exchange) document(res *http.Response) document {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if x.relay.KeepOAuth || res.StatusCode != http.StatusOK || kind != "application/json" || x.in.Method != http.MethodGet ||
		!strings.Contains(x.in.URL.Path, "/.well-known/oauth-protected-resource") {
		return document{}
	}
	if res.ContentLength > maxWhole {
		return document{}
	}
	came, err := io.ReadAll(io.LimitReader(res.Body, maxWhole+1))
	if err != nil || len(came) > maxWhole {
		return document{came: came, err: err}
	}
	d := document{came: came, err: io.EOF}
	resource, ok := wire.Unquote(wire.Get(came, "resource"))
	if !ok {
		return d
	}
	if here := x.relay.forClient(string(resource)); here != string(resource) {
		d.rewritten = wire.Set(came, wire.Encode(here), "resource")
	}
	return d
}
