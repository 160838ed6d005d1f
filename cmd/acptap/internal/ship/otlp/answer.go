package otlp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/acptap/acptap/record/termtext"
)

// A Failure is that a request was not accepted. Its text is clean, and tells neither a value
// of Client.Header nor what of the URL Client.Name leaves out.
type Failure struct {
	Kind  Kind
	After time.Duration // how long to wait before the next try, if the answer says so; else 0
	text  string
}

func (f *Failure) Error() string { return f.text }

// A Kind is what a Failure is about.
type Kind uint8

// The kinds.
const (
	Unreached Kind = iota // nobody answers, or not now: the same request may be accepted later
	Denied                // the URL, the headers or the certificate are not those that it wants: no request will be accepted
	Absent                // nothing at the URL takes requests; a back end without a signal answers so
	Refused               // this request will never be accepted
)

// kindOf returns what a status says (OTLP specification, "Failures"). Which statuses are
// about the sender instead of the request follows from HTTP.
func kindOf(status int) Kind {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return Unreached
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return Denied
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return Absent
	}
	if status/100 == 3 {
		return Denied
	}
	return Refused
}

// answer reads an answer to a request of a length.
func (c *Client) answer(status int, head http.Header, body []byte, length int) (Answer, error) {
	of, _, _ := mime.ParseMediaType(head.Get("Content-Type")) // of one that is none, the body is taken for text
	if status/100 == 2 {
		refused, message := readPartialSuccess(of, body)
		return Answer{Refused: int(min(max(refused, 0), int64(length))), Message: c.clean(message)}, nil
	}
	text := fmt.Sprintf("%s answered %d %s", c.Name(), status, http.StatusText(status))
	if status/100 == 3 {
		text += ": redirects are not followed, name the URL that it leads to"
	} else if said := c.clean(readMessage(of, body)); said != "" {
		text += ": " + said
	}
	kind := kindOf(status)
	if status == http.StatusBadRequest && wantsTLS.Match(body) {
		kind = Denied
	}
	return Answer{}, &Failure{Kind: kind, After: retryAfter(head.Get("Retry-After"), head.Get("Date")), text: strings.TrimSpace(text)}
}

// wantsTLS is how servers answer http where they speak https: those of Go, as the collector
// is, and nginx. It is about the URL, though the status blames the request.
var wantsTLS = regexp.MustCompile(`Client sent an HTTP request to an HTTPS server|The plain HTTP request was sent to HTTPS port`)

// readPartialSuccess returns how much of a request an answer says that was refused, and why.
// In protobuf the answers of all signals have the same fields. An answer that cannot be read
// has accepted the request all the same.
func readPartialSuccess(contentType string, body []byte) (refused int64, message string) {
	switch contentType {
	case protobuf:
		var r collector.ExportTraceServiceResponse
		if proto.Unmarshal(body, &r) == nil {
			return r.GetPartialSuccess().GetRejectedSpans(), r.GetPartialSuccess().GetErrorMessage()
		}
	case jsonText:
		var r struct {
			PartialSuccess struct {
				RejectedSpans, RejectedDataPoints, RejectedLogRecords json.Number
				ErrorMessage                                          string
			}
		}
		if json.Unmarshal(body, &r) == nil {
			p := r.PartialSuccess
			refused, _ = cmp.Or(p.RejectedSpans, p.RejectedDataPoints, p.RejectedLogRecords).Int64()
			return refused, p.ErrorMessage
		}
	}
	return 0, ""
}

// readMessage returns what the body of an error says: of a google.rpc.Status in protobuf its
// field message, 2.
func readMessage(contentType string, body []byte) string {
	if contentType != protobuf {
		return string(body)
	}
	for rest := body; len(rest) > 0; {
		field, of, n := protowire.ConsumeTag(rest)
		if n < 0 {
			break
		}
		if rest = rest[n:]; field == 2 && of == protowire.BytesType {
			text, _ := protowire.ConsumeBytes(rest)
			return string(text)
		}
		if n = protowire.ConsumeFieldValue(field, of, rest); n < 0 {
			break
		}
		rest = rest[n:]
	}
	return ""
}

// maxMessage is how much of a message of others is told.
const maxMessage = 200

// clean makes clean text of what others have said, without what is secret: it may repeat
// what it was sent.
func (c *Client) clean(text string) string {
	return termtext.Brief(strings.TrimSpace(strings.NewReplacer(c.secrets()...).Replace(text)), maxMessage)
}

// secrets returns what no message may tell, each with what stands for it, the longest first.
func (c *Client) secrets() (pairs []string) {
	var all []string
	for _, values := range c.Header {
		for _, v := range values {
			all = append(append(all, v), strings.Fields(v)...)
		}
	}
	if c.URL.User != nil {
		password, _ := c.URL.User.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(c.URL.User.Username() + ":" + password)) // as it is sent
		all = append(all, c.URL.User.String(), c.URL.User.Username(), password, basic)
	}
	all = append(all, c.URL.RawQuery)
	for _, values := range c.URL.Query() {
		all = append(all, values...)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range all {
		if secret != "" {
			pairs = append(pairs, secret, "[redacted]")
		}
	}
	return pairs
}

// maxAfter bounds how long an answer may make us wait.
const maxAfter = 10 * time.Minute

// retryAfter reads a Retry-After, in seconds or as a date (RFC 9110, section 10.2.3), which
// is compared with the Date of the answer: clocks differ.
func retryAfter(value, date string) time.Duration {
	if s, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(s, uint64(maxAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(date)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxAfter)
}
