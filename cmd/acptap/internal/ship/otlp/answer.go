package otlp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/termtext"
)

// A Failure means that a request was not accepted. Its text is clean, and contains
// neither values of Client.Header nor the parts of the URL that Client.Name omits.
type Failure struct {
	Kind  Kind
	After time.Duration // how long to wait before the next try, if the answer says so; otherwise 0
	text  string
}

func (f *Failure) Error() string { return f.text }

// A Kind says what a Failure is about.
type Kind uint8

// The kinds.
const (
	Unreached Kind = iota // no answer, or not now: the same request may be accepted later
	Denied                // wrong URL, headers or certificate: no request will be accepted
	Absent                // nothing at the URL accepts requests, as with a back end that lacks the signal
	Refused               // this request will never be accepted
)

// kindOf returns the kind of failure that a status means (OTLP specification,
// "Failures"). HTTP defines which statuses blame the sender instead of the request.
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

// answer interprets the answer to a request with length elements.
func (c *Client) answer(status int, head http.Header, body []byte, length int) (Answer, error) {
	of, _, _ := mime.ParseMediaType(head.Get("Content-Type")) // if it is invalid, the body is treated as text
	text := fmt.Sprintf("%s answered %d %s", c.Name(), status, http.StatusText(status))
	if status/100 == 2 {
		refused, message, ok := readResponse(of, body)
		switch {
		case of != protobuf && of != jsonText: // Langfuse answers in JSON, whatever the request is in (langfuse/langfuse#11550)
			return Answer{}, &Failure{Kind: Denied, text: fmt.Sprintf("%s, but with the Content-Type %q, not %s or %s: nothing there takes OTLP", text, c.clean(of), protobuf, jsonText)}
		case !ok:
			return Answer{}, &Failure{Kind: Denied, text: text + ", but not as OTLP does: " + c.clean(string(body))}
		}
		return Answer{Refused: int(min(max(refused, 0), int64(length))), Message: c.clean(message)}, nil
	}
	if status/100 == 3 {
		text += ": redirects are not followed, name the URL that it leads to"
	} else if said := c.clean(readMessage(of, body)); said != "" {
		text += ": " + said
	}
	kind := kindOf(status)
	if status == http.StatusBadRequest && wantsTLS().Match(body) {
		kind = Denied
	}
	return Answer{}, &Failure{Kind: kind, After: retryAfter(head.Get("Retry-After"), head.Get("Date")), text: strings.TrimSpace(text)}
}

// wantsTLS matches the answers of HTTPS servers to HTTP requests: those of Go, such as
// the collector, and nginx. The URL is wrong, though the status blames the request.
var wantsTLS = lazyregexp.New(`Client sent an HTTP request to an HTTPS server|The plain HTTP request was sent to HTTPS port`)

// readResponse reads an ExportTraceServiceResponse, or that of another signal: in
// protobuf all have the same fields. It returns how much of the request was refused, and
// why. ok is false if the body is something else, such as a login page, or comes from a
// server that answers everything.
func readResponse(contentType string, body []byte) (refused int64, message string, ok bool) {
	if len(body) == 0 {
		return 0, "", true // in protobuf: nothing was refused
	}
	switch contentType {
	case protobuf:
		var partial []byte // message PartialSuccess
		ok = fields(body, func(number protowire.Number, of protowire.Type, value []byte) {
			if number == 1 && of == protowire.BytesType {
				partial, _ = protowire.ConsumeBytes(value)
			}
		}) && partial != nil && fields(partial, func(number protowire.Number, of protowire.Type, value []byte) {
			switch {
			case number == 1 && of == protowire.VarintType:
				n, _ := protowire.ConsumeVarint(value)
				refused = int64(n)
			case number == 2 && of == protowire.BytesType:
				message, _ = protowire.ConsumeString(value)
			}
		})
		return refused, message, ok
	case jsonText:
		var r struct {
			PartialSuccess *struct {
				RejectedSpans, RejectedDataPoints, RejectedLogRecords json.Number
				ErrorMessage                                          string
			}
		}
		var members map[string]json.RawMessage
		ok = json.Unmarshal(body, &r) == nil && json.Unmarshal(body, &members) == nil && members != nil
		if p := r.PartialSuccess; p != nil {
			refused, _ = cmp.Or(p.RejectedSpans, p.RejectedDataPoints, p.RejectedLogRecords).Int64()
			return refused, p.ErrorMessage, ok
		}
		_, null := members["partialSuccess"]
		return 0, "", ok && (null || len(members) == 0)
	}
	return 0, "", false
}

// readMessage returns the message in the body of an error. In protobuf that is field 2,
// message, of a google.rpc.Status.
func readMessage(contentType string, body []byte) string {
	if contentType != protobuf {
		return string(body)
	}
	message := ""
	fields(body, func(number protowire.Number, of protowire.Type, value []byte) {
		if number == 2 && of == protowire.BytesType {
			message, _ = protowire.ConsumeString(value)
		}
	})
	return message
}

// maxMessage limits how much of a foreign message is quoted.
const maxMessage = 200

// clean returns foreign text as clean text without secrets, because an answer may repeat
// the request.
func (c *Client) clean(text string) string {
	return termtext.Brief(strings.TrimSpace(strings.NewReplacer(c.secrets()...).Replace(text)), maxMessage)
}

// secrets returns what no message may contain, each with its replacement, longest first.
func (c *Client) secrets() (pairs []string) {
	var all []string
	for _, values := range c.Header {
		for _, v := range values {
			all = append(append(all, v), strings.Fields(v)...)
		}
	}
	if c.URL.User != nil {
		password, _ := c.URL.User.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(c.URL.User.Username() + ":" + password)) // in the form in which it is sent
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

// maxAfter limits how long an answer may make us wait.
const maxAfter = 10 * time.Minute

// retryAfter parses a Retry-After, in seconds or as a date (RFC 9110, section 10.2.3). It
// compares a date with the Date of the answer, because clocks differ.
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
