package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// A conn gives up where nothing moves for some time, in whatever state a request is.
type conn struct {
	net.Conn
	patience time.Duration
}

// Read reads. The deadline is that of both directions: while much is sent, nothing comes.
func (c conn) Read(p []byte) (int, error) {
	c.SetDeadline(time.Now().Add(c.patience))
	n, err := c.Conn.Read(p)
	return n, c.explain(err)
}

func (c conn) Write(p []byte) (int, error) {
	c.SetDeadline(time.Now().Add(c.patience))
	n, err := c.Conn.Write(p)
	return n, c.explain(err)
}

func (c conn) explain(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return stalledError{c.patience}
	}
	return err
}

// A stalledError is that a server neither took nor sent anything for some time.
type stalledError struct{ after time.Duration }

func (e stalledError) Error() string   { return fmt.Sprintf("nothing came for %v", e.after) }
func (e stalledError) Timeout() bool   { return true }
func (e stalledError) Temporary() bool { return true }

// newTransport returns what carries requests.
func newTransport(patience time.Duration) http.RoundTripper {
	dialer := net.Dialer{Timeout: min(patience, 10*time.Second)}
	return transport{&http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return conn{c, patience}, nil
		},
		MaxIdleConnsPerHost: workers,
		TLSHandshakeTimeout: patience,
		DisableCompression:  true, // bytes are to come as they are
	}}
}

// A transport says in words that a connection was closed: minio would put its own in their
// place.
type transport struct{ *http.Transport }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.Transport.RoundTrip(r)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errClosed
	}
	return resp, err
}

var errClosed = errors.New("the server closed the connection")

// forCredentials returns the client for services that give credentials to machines and
// containers. Where there is none, as on most machines, its address leads nowhere.
func forCredentials() *http.Client {
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			if strings.HasPrefix(r.URL.Host, "169.254.") {
				return nil, nil // it is the machine's own, whatever the proxy
			}
			return http.ProxyFromEnvironment(r)
		},
		DialContext: (&net.Dialer{Timeout: time.Second}).DialContext,
	}}
}
