package relay

import (
	"crypto/rand"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A Nested passes requests on to several servers, each below an unguessable path of its
// own. It is an http.Handler, to be used with Serve on a loopback listener.
type Nested struct {
	Host string // of the listener, with its port

	mu     sync.Mutex
	relays map[string]*Relay // by first element of the path; guarded by mu
}

// Add adds a server and returns the URL at which clients reach it, including its path and
// query. It sets r's Address. link makes the path readable for people: letters, digits
// and dashes.
func (n *Nested) Add(link string, r *Relay) *url.URL {
	name := link + "-" + strings.ToLower(rand.Text())
	r.Address = &url.URL{Scheme: "http", Host: n.Host, Path: "/" + name}
	here := *r.Address
	here.RawPath = here.Path + r.Upstream.EscapedPath()
	here.Path += r.Upstream.Path
	here.RawQuery = r.Upstream.RawQuery
	bare := *r.Upstream
	bare.RawQuery = "" // the client sends it
	r.Upstream = &bare

	n.mu.Lock()
	defer n.mu.Unlock()
	if n.relays == nil {
		n.relays = map[string]*Relay{}
	}
	n.relays[name] = r
	return &here
}

// wellKnown begins the paths of documents about a host (RFC 8615). If a document is about
// one path, that path follows its name (RFC 8414, RFC 9728).
const wellKnown = "/.well-known/"

// ServeHTTP passes one request on. It answers unknown paths without a hint, and does not
// record them.
func (n *Nested) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	path := in.URL.EscapedPath()
	document := ""
	if rest, ok := strings.CutPrefix(path, wellKnown); ok {
		var name string
		name, path, _ = strings.Cut(rest, "/")
		document, path = wellKnown+name, "/"+path
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if strings.Count(path, "/") > 1 {
		rest = "/" + rest
	}
	n.mu.Lock()
	r := n.relays[name]
	n.mu.Unlock()
	if r == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	escaped := document + rest
	if escaped == "" {
		escaped = "/"
	}
	u := *in.URL
	u.RawPath = escaped
	if u.Path, _ = url.PathUnescape(escaped); u.Path == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	in = in.WithContext(in.Context()) // a copy with its own URL
	in.URL = &u
	r.ServeHTTP(w, in)
}

// Close closes all its relays.
func (n *Nested) Close(why string) {
	n.mu.Lock()
	relays := slices.Collect(maps.Values(n.relays))
	n.mu.Unlock()
	var closing sync.WaitGroup
	for _, r := range relays {
		closing.Go(func() { r.Close(why) })
	}
	closing.Wait()
}
