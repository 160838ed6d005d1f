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

// A Client posts requests of one Signal to a collector, or to whatever takes OTLP over HTTP. It does not try
// again: what it says of a Failure tells its caller whether to. It may be used from several
// goroutines.
type Client struct {
	URL     *url.URL
	Header  http.Header   // sent with each request; nothing of its values is in any message
	Timeout time.Duration // of a request with its answer
	Gzip    bool
	JSON    bool // http/json in place of http/protobuf
	Encoder Encoder
	HTTP    *http.Client // it must not follow redirects: Header is for URL alone
}

// newHTTP returns an HTTP client. security is nil for the system's certificates.
func newHTTP(security *tls.Config) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = security
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Name returns the URL for people: without user, password and query.
func (c *Client) Name() string { return Name(c.URL) }

// Name returns a URL without user, password and query.
func Name(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// An Answer is what became of a request that was accepted.
type Answer struct {
	Refused int    // of Request.Len, what was not (partial success)
	Message string // what was said of it, as clean text; empty: nothing
}

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 64 << 10

// Send posts a request. Each error is a *Failure, but for the one of
// a context that is done.
func (c *Client) Send(ctx context.Context, r Request) (Answer, error) {
	body, err := c.encode(r)
	if err != nil {
		return Answer{}, &Failure{Kind: Refused, text: "a request cannot be encoded: " + err.Error()}
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, defaultTimeout))
	defer cancel()
	status, head, body, err := c.post(limited, body)
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

// isDenial reports whether a connection failed because one side does not trust the other, or
// the server does not speak TLS.
func isDenial(err error) bool {
	var plain tls.RecordHeaderError
	if errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &plain) {
		return true
	}
	var untrusted *tls.CertificateVerificationError
	var alert *net.OpError // that the other side has sent
	return errors.As(err, &untrusted) || errors.As(err, &alert) && alert.Op == "remote error"
}

// encode returns the body of a request.
func (c *Client) encode(r Request) ([]byte, error) {
	encode := c.Encoder.Proto
	if c.JSON {
		encode = c.Encoder.JSON
	}
	plain, err := encode(r)
	if err != nil || !c.Gzip {
		return plain, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(plain)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// post returns an answer with the beginning of its body.
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
		err = nil // the status tells enough
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
