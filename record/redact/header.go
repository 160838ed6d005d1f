package redact

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

// A Key makes fingerprints of secrets: of the same secret the same one, wherever the
// key is the same. Who does not have the key cannot test guesses with them. A store
// has one; the empty Key serves what is of no store.
type Key []byte

// fingerprint returns that many hex digits. What it is for keeps the fingerprints of
// one purpose apart from those of another.
func (k Key) fingerprint(purpose, secret string, digits int) string {
	h := hmac.New(sha256.New, k)
	h.Write([]byte(purpose + "\x00" + secret))
	return hex.EncodeToString(h.Sum(nil))[:digits]
}

// keptHeaders are those whose values are kept; a * stands for what follows.
var keptHeaders = [...]string{
	"accept*", "access-control-*", "acp-*", "allow", "cache-control", "connection", "content-*", "date", "host", "last-event-id",
	"mcp-*", "origin", "retry-after", "server", "traceparent", "tracestate", "transfer-encoding", "upgrade", "user-agent",
	"www-authenticate", "x-accel-buffering",
}

// usualHeaders are most of those that come and whose values are kept, as net/http spells
// them.
var usualHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Acp-Connection-Id": true, "Cache-Control": true, "Connection": true,
	"Content-Length": true, "Content-Type": true, "Date": true, "Host": true, "Last-Event-Id": true, "Mcp-Method": true, "Mcp-Name": true,
	"Mcp-Protocol-Version": true, "Mcp-Session-Id": true, "Origin": true, "Server": true, "Transfer-Encoding": true, "User-Agent": true,
}

// Headers returns what a tape keeps of the headers of an HTTP message, in the order of
// their names: of those that the protocols and people read the values; of credentials
// their scheme or the names of the cookies, their length, and a fingerprint that tells
// when they change; of URLs what Target does; of the others the length.
func (k Key) Headers(all map[string][]string) []wire.Header {
	kept := make([]wire.Header, 0, len(all))
	for name, values := range all {
		for _, v := range values {
			kept = append(kept, k.header(name, v))
		}
	}
	slices.SortStableFunc(kept, func(a, b wire.Header) int { return cmp.Compare(a.Name, b.Name) })
	return kept
}

func (k Key) header(name, value string) wire.Header {
	if usualHeaders[name] {
		return wire.Header{Name: name, Value: value}
	}
	h := wire.Header{Name: name, Length: len(value)}
	lower := strings.ToLower(name)
	switch {
	case lower == "cookie", lower == "set-cookie":
		h.Cookies = cookieNames(lower, value)
	case strings.HasSuffix(lower, "authorization"):
		if scheme, _, ok := strings.Cut(value, " "); ok {
			h.Scheme = scheme
		}
	case isSecret([]byte(lower)):
	case lower == "location", lower == "content-location":
		return wire.Header{Name: name, Value: Target(value)}
	case isKept(lower):
		return wire.Header{Name: name, Value: value}
	default:
		return h
	}
	h.Fingerprint = k.fingerprint("header", value, 8)
	return h
}

func isKept(lower string) bool {
	return slices.ContainsFunc(keptHeaders[:], func(kept string) bool {
		prefix, more := strings.CutSuffix(kept, "*")
		return lower == kept || more && strings.HasPrefix(lower, prefix)
	})
}

// cookieNames returns the names of the cookies in a header; set-cookie has one, with
// its attributes behind it (RFC 6265, section 4).
func cookieNames(header, value string) (names []string) {
	for c := range strings.SplitSeq(value, ";") {
		name, _, ok := strings.Cut(strings.TrimSpace(c), "=")
		if ok {
			names = append(names, name)
		}
		if header == "set-cookie" {
			break
		}
	}
	return names
}

// Mark returns what a mark says without what is secret in it, as Frame does. The ids of
// sessions and connections, with which anybody can go on with them, become pseudonyms:
// of the same id the same one.
func (k Key) Mark(raw []byte) []byte {
	m := wire.ReadMark(wire.Frame{Kind: wire.Mark, Raw: raw})
	switch {
	case m.HTTP != nil:
		h := *m.HTTP
		h.Target = k.target(h.Target)
		h.Headers = k.public(h.Headers)
		if h.Rewritten != nil {
			r := *h.Rewritten
			r.Target, r.Headers = k.target(r.Target), k.public(r.Headers)
			h.Rewritten = &r
		}
		m.HTTP = &h
	case m.SSE != nil:
		e := *m.SSE
		e.Data = k.eventData(e.Data)
		m.SSE = &e
	case m.End != nil && len(m.End.Trailers) > 0:
		e := *m.End
		e.Trailers, e.Error = k.public(e.Trailers), string(redactText([]byte(e.Error)))
		m.End = &e
	default:
		return Frame(wire.Mark, raw)
	}
	return m.JSON()
}

// public returns headers as an export shows them.
func (k Key) public(all []wire.Header) []wire.Header {
	all = slices.Clone(all)
	for i := range all {
		h := &all[i]
		switch name := strings.ToLower(h.Name); {
		case h.Value == "":
		case name == "mcp-session-id", name == "acp-connection-id":
			h.Value = k.pseudonym(h.Value)
		case name == "location", name == "content-location":
			h.Value = k.target(h.Value)
		case isSecret([]byte(name)): // an imported tape may have such a value
			h.Value = Placeholder
		default:
			h.Value = string(redactText([]byte(h.Value)))
		}
	}
	return all
}

const pseudonymPrefix = "session-"

// pseudonym returns what stands for the id of a session in an export.
func (k Key) pseudonym(id string) string {
	if rest, ok := strings.CutPrefix(id, pseudonymPrefix); ok && len(rest) == 12 && strings.Trim(rest, "0123456789abcdef") == "" {
		return id // it is one
	}
	return pseudonymPrefix + k.fingerprint("session", id, 12)
}

// Target returns what a tape keeps of a URL, or of the path and query of a request: the
// secrets in the query are left out. Ids of sessions are kept, as in headers.
func Target(url string) string {
	return withoutSecrets(url, func(id string) string { return id })
}

// target returns what an export shows of a URL that is on a tape, in which ids of
// sessions become pseudonyms: the transport of 2024-11-05 has them in the URL that
// messages are posted to.
func (k Key) target(url string) string {
	url = secretPath().ReplaceAllString(url, "${1}"+Placeholder)
	return string(redactPath(redactText([]byte(withoutSecrets(url, k.pseudonym)))))
}

// withoutSecrets returns a URL without secrets in its query, and with what session makes of ids
// of sessions there.
func withoutSecrets(target string, session func(id string) string) string {
	path, query, ok := strings.Cut(target, "?")
	if !ok {
		return target
	}
	query, fragment, fragmented := strings.Cut(query, "#")
	parts := strings.Split(query, "&")
	for i, p := range parts {
		spelled, value, _ := strings.Cut(p, "=")
		name, err := url.QueryUnescape(spelled)
		if err != nil {
			name = spelled
		}
		switch {
		case value == "":
		case isSessionID(name):
			parts[i] = spelled + "=" + session(value)
		case isSecret([]byte(name)), strings.EqualFold(name, "code"), strings.HasSuffix(strings.ToLower(name), "signature"):
			parts[i] = spelled + "=" + Placeholder
		}
	}
	target = path + "?" + strings.Join(parts, "&")
	if fragmented {
		target += "#" + fragment
	}
	return target
}

// isSessionID reports whether a parameter with that name is the id of a session, as
// servers call it: sessionId, session_id, session.
func isSessionID(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	return name == "session" || strings.HasSuffix(name, "sessionid") || name == "connectionid" || name == "sid"
}

// eventData returns the data of an event that is no message: the URL of an endpoint, or
// anything.
func (k Key) eventData(data string) string {
	if !strings.ContainsAny(data, " \n") && (strings.Contains(data, "?") || strings.HasPrefix(data, "/") || strings.Contains(data, "://")) {
		return k.target(data)
	}
	return string(Frame(wire.Mark, []byte(data)))
}

// Lead returns the framing in front of a frame without secrets. now is what the bytes of
// the frame have become. ok is false where the frame is derived from the lead, and that
// cannot say what the frame says now.
func (k Key) Lead(f *wire.Frame, now []byte) (lead []byte, ok bool) {
	changed := f.Derived && f.Kind != wire.Mark && !bytes.Equal(f.Raw, now)
	if !isEventStream(f.Lead) {
		return f.Lead, !changed
	}
	lines := bytes.Split(now, []byte("\n"))
	lead = redactEvent(f.Lead, func(value []byte) []byte {
		switch {
		case f.Kind == wire.Mark:
			return []byte(k.eventData(string(value)))
		case f.Derived && len(lines) > 0:
			value, lines = lines[0], lines[1:]
		}
		return value
	})
	return lead, !changed || len(lines) == 0
}

// isEventStream reports whether a lead is of a text/event-stream. That of a WebSocket
// has a head with the bit for the last fragment, which makes it no UTF-8.
func isEventStream(lead []byte) bool {
	return utf8.Valid(lead) && bytes.IndexByte(lead, ':') >= 0
}

// redactEvent returns the lead of an event with other values of its lines of data, and
// without what looks like a secret in its other lines.
func redactEvent(lead []byte, data func(value []byte) []byte) []byte {
	const name, lineEnds = "data", "\r\n"
	var out []byte
	for len(lead) > 0 {
		n := bytes.IndexAny(lead, lineEnds)
		if n < 0 {
			n = len(lead)
		}
		line := lead[:n]
		rest := bytes.TrimLeft(lead[n:], lineEnds)
		switch value, ok := bytes.CutPrefix(line, []byte(name+":")); {
		case ok:
			value = bytes.TrimPrefix(value, []byte(" "))
			before := line[:len(line)-len(value)]
			line = append(bytes.Clone(before), data(value)...)
		case string(line) == name:
			data(nil)
		default:
			line = redactText(line)
		}
		out = append(append(out, line...), lead[n:len(lead)-len(rest)]...)
		lead = rest
	}
	return out
}
