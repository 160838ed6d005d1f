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

// A conn fails if no data moves for some time, regardless of the state of a request.
type conn struct {
	net.Conn
	patience time.Duration
}

// Read extends the deadline of both directions, because nothing arrives during an upload.
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

// A stalledError means that a server neither accepted nor sent anything for some time.
type stalledError struct{ after time.Duration }

func (e stalledError) Error() string   { return fmt.Sprintf("nothing came for %v", e.after) }
func (e stalledError) Timeout() bool   { return true }
func (e stalledError) Temporary() bool { return true }

// newTransport returns the transport for requests.
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
		DisableCompression:  true, // the content must arrive as stored
	}}
}

// A transport returns its own error for a closed connection, because minio replaces the
// original one.
type transport struct{ *http.Transport }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.pages(r)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errClosed
	}
	return resp, err
}

var errClosed = errors.New("the server closed the connection")

// forCredentials returns the client for services that issue credentials to machines and
// containers. On most machines there is no such service, and nothing answers at its
// address.
func forCredentials() *http.Client {
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			if strings.HasPrefix(r.URL.Host, "169.254.") {
				return nil, nil // an address of this machine, so never use a proxy
			}
			return http.ProxyFromEnvironment(r)
		},
		DialContext: (&net.Dialer{Timeout: time.Second}).DialContext,
	}}
}
