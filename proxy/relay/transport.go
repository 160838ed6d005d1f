package relay

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Timeouts and sizes of connections, both to the server and from clients.
const (
	dialTime   = 10 * time.Second // also for a handshake, and for a request's head
	keepTime   = 10 * time.Minute // for an unused connection; long, because closing it can make the other side's next request fail
	maxHead    = 1 << 20
	maxUnused  = 64
	endingTime = 2 * time.Second // for requests that are being broken off
)

// silent is for packages that would otherwise log to stderr.
var silent = log.New(io.Discard, "", 0)

// transports are the ways to reach the server.
type transports struct {
	usual   *http.Transport
	upgrade *http.Transport // for WebSockets, which need HTTP/1.1
}

func newTransports(upstream *url.URL) transports {
	t := transports{usual: newTransport()}
	t.upgrade = t.usual
	if upstream.Scheme == "h2c" {
		t.upgrade = newTransport()
		t.usual.Protocols = new(http.Protocols)
		t.usual.Protocols.SetUnencryptedHTTP2(true)
	}
	return t
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTime}).DialContext,
		TLSHandshakeTimeout:    dialTime,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		IdleConnTimeout:        keepTime,
		MaxIdleConnsPerHost:    maxUnused,
		MaxResponseHeaderBytes: maxHead,
	}
}

func (t transports) of(q question) *http.Transport {
	if q.upgrade {
		return t.upgrade
	}
	return t.usual
}

func (t transports) close() {
	if t.usual != nil {
		t.usual.CloseIdleConnections()
		t.upgrade.CloseIdleConnections()
	}
}
