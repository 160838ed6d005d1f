package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// A Client posts requests of one Signal to a collector or another receiver of OTLP over
// HTTP. It does not retry: the caller decides by the Kind of a Failure. It is safe for
// concurrent use.
type Client struct {
	URL     *url.URL
	Header  http.Header   // sent with each request; messages never contain its values
	Timeout time.Duration // for a request and its answer
	Gzip    bool
	JSON    bool // http/json instead of http/protobuf
	Encoder Encoder
	HTTP    *http.Client // must not follow redirects, because Header is only for URL
}

// newHTTP returns an HTTP client. If security is nil, it uses the system's certificates.
func newHTTP(security *tls.Config) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = security
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Name returns the URL to show to users: without user, password and query.
func (c *Client) Name() string { return Name(c.URL) }

// Name returns a URL without user, password and query.
func Name(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// An Answer is the result of a request that was accepted.
type Answer struct {
	Refused int    // how many of Request.Len were not accepted (partial success)
	Message string // the server's message, as clean text; may be empty
}

// maxAnswer limits the bytes read of an answer.
const maxAnswer = 64 << 10

// Send posts a request. Each error is a *Failure, unless ctx is done.
func (c *Client) Send(ctx context.Context, r Request) (Answer, error) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, defaultTimeout))
	defer cancel()
	status, head, body, err := c.post(limited, c.encode(r))
	switch {
	case err == nil:
		return c.answer(status, head, body, r.Len())
	case ctx.Err() != nil:
		return Answer{}, context.Cause(ctx)
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return Answer{}, &Failure{Kind: Unreached, text: fmt.Sprintf("%s: no answer within %v", c.Name(), cmp.Or(c.Timeout, defaultTimeout))}
	}
	f := &Failure{Kind: Unreached, text: c.Name() + ": " + c.clean(err.Error())}
	if isDenial(err) {
		f.Kind = Denied
	}
	return Answer{}, f
}

// isDenial reports whether a connection failed because one side does not trust the other,
// or because the server does not speak TLS.
func isDenial(err error) bool {
	var plain tls.RecordHeaderError
	if errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &plain) {
		return true
	}
	var untrusted *tls.CertificateVerificationError
	var alert *net.OpError // sent by the other side
	return errors.As(err, &untrusted) || errors.As(err, &alert) && alert.Op == "remote error"
}

// encode returns the body of a request.
func (c *Client) encode(r Request) []byte {
	encode := c.Encoder.Proto
	if c.JSON {
		encode = c.Encoder.JSON
	}
	if !c.Gzip {
		return encode(r)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(encode(r)) // writing to memory cannot fail
	z.Close()
	return b.Bytes()
}

// post sends body and returns the answer with the beginning of its body.
func (c *Client) post(ctx context.Context, body []byte) (status int, head http.Header, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL.String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if host := c.Header.Get("Host"); host != "" {
		req.Host = host
	}
	req.Header.Set("User-Agent", "acptap/"+cmp.Or(c.Encoder.Version, "0"))
	req.Header.Set("Content-Type", c.contentType())
	if c.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		if of := (*url.Error)(nil); errors.As(err, &of) {
			err = of.Err // without the URL
		}
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && resp.StatusCode/100 != 2 {
		err = nil // the status says enough
	}
	return resp.StatusCode, resp.Header, answer, err
}

const (
	protobuf = "application/x-protobuf"
	jsonText = "application/json"
)

func (c *Client) contentType() string {
	if c.JSON {
		return jsonText
	}
	return protobuf
}
