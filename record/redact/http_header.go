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

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
)

// A Key makes fingerprints of secrets: the same key gives the same secret the same
// fingerprint. Without the key no one can test guesses against them. Each store has one;
// the empty Key serves tapes outside of a store.
type Key []byte

// fingerprint returns the given number of hex digits. purpose keeps the fingerprints of one
// purpose apart from those of another.
func (k Key) fingerprint(purpose, secret string, digits int) string {
	h := hmac.New(sha256.New, k)
	h.Write([]byte(purpose + "\x00" + secret))
	return hex.EncodeToString(h.Sum(nil))[:digits]
}

// keptHeaders are the headers whose values are kept; a * matches any ending.
var keptHeaders = [...]string{
	"accept*", "access-control-*", "acp-*", "allow", "cache-control", "connection", "content-*", "date", "host", "last-event-id",
	"mcp-*", "origin", "retry-after", "server", "traceparent", "tracestate", "transfer-encoding", "upgrade", "user-agent",
	"www-authenticate", "x-accel-buffering",
}

// usualHeaders are the most frequent headers whose values are kept, as net/http spells
// them.
var usualHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Acp-Connection-Id": true, "Cache-Control": true, "Connection": true,
	"Content-Length": true, "Content-Type": true, "Date": true, "Host": true, "Last-Event-Id": true, "Mcp-Method": true, "Mcp-Name": true,
	"Mcp-Protocol-Version": true, "Mcp-Session-Id": true, "Origin": true, "Server": true, "Transfer-Encoding": true, "User-Agent": true,
}

// Headers returns what a tape keeps of the headers of an HTTP message, sorted by name.
// Headers that the protocols or people read keep their values; credentials keep their
// scheme or the names of the cookies, their length, and a fingerprint that shows when they
// change; URLs keep what Target keeps; the others keep their length.
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
		return wire.Header{Name: name, Value: publicURLs(value)}
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

// cookieNames returns the names of the cookies in a header; set-cookie has one, followed by
// its attributes (RFC 6265, section 4).
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

// Mark returns what a mark says without its secrets, as Frame does. Session and connection
// ids, which would let anyone continue the session, become pseudonyms: always the same one
// for the same id.
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
		case isSecret([]byte(name)): // an imported tape may have the value of a secret header
			h.Value = Placeholder
		default:
			h.Value = string(redactText([]byte(h.Value)))
		}
	}
	return all
}

const pseudonymPrefix = "session-"

// pseudonym returns the replacement for a session id in an export.
func (k Key) pseudonym(id string) string {
	if rest, ok := strings.CutPrefix(id, pseudonymPrefix); ok && len(rest) == 12 && strings.Trim(rest, "0123456789abcdef") == "" {
		return id // it is a pseudonym already
	}
	return pseudonymPrefix + k.fingerprint("session", id, 12)
}

// Target returns what a tape keeps of a URL, or of the path and query of a request, without
// the secrets in the query and the fragment. Session ids are kept, as in headers.
func Target(url string) string {
	return withoutSecrets(url, func(id string) string { return id })
}

// target returns what an export shows of a URL on a tape. Session ids become pseudonyms:
// the transport of 2024-11-05 has them in the URL to which messages are posted.
func (k Key) target(url string) string {
	url = secretPath().ReplaceAllString(url, "${1}"+Placeholder)
	return string(redactPath(redactText([]byte(withoutSecrets(url, k.pseudonym)))))
}

// withoutSecrets returns a URL without the secrets in its query and its fragment. session
// replaces the session ids there.
func withoutSecrets(target string, session func(id string) string) string {
	whole, fragment, fragmented := strings.Cut(target, "#")
	path, query, ok := strings.Cut(whole, "?")
	if ok {
		path += "?" + publicParameters(query, session)
	}
	switch {
	case !fragmented:
		return path
	case strings.Contains(fragment, "?"):
		return path + "#" + withoutSecrets(fragment, session)
	}
	return path + "#" + publicParameters(fragment, session)
}

// publicParameters returns the parameters of a URL without the secrets in them.
func publicParameters(query string, session func(id string) string) string {
	var b strings.Builder
	for len(query) > 0 {
		n := strings.IndexAny(query, "&;")
		if n < 0 {
			n = len(query)
		}
		b.WriteString(publicParameter(query[:n], session))
		if query = query[n:]; query != "" {
			b.WriteByte(query[0])
			query = query[1:]
		}
	}
	return b.String()
}

func publicParameter(p string, session func(id string) string) string {
	spelled, value, _ := strings.Cut(p, "=")
	name, err := url.QueryUnescape(spelled)
	if err != nil {
		name = spelled
	}
	lower := strings.ToLower(name)
	switch {
	case value == "":
		return p
	case isSessionID(name):
		return spelled + "=" + session(value)
	case isSecret([]byte(name)), lower == "code", lower == "key", strings.HasSuffix(lower, "signature"):
		return spelled + "=" + Placeholder
	}
	if inside, err := url.QueryUnescape(value); err == nil && strings.ContainsAny(inside, "?#") {
		if public := withoutSecrets(inside, session); public != inside {
			return spelled + "=" + url.QueryEscape(public)
		}
	}
	return p
}

// urlInText matches what may be a URL with a query in the value of a header.
var urlInText = lazyregexp.New(`[^\s"'<>,]+[?#][^\s"'<>,]*`)

// publicURLs returns the value of a header without the secrets in the URLs in it.
func publicURLs(value string) string {
	if !strings.ContainsAny(value, "?#") {
		return value
	}
	return urlInText().ReplaceAllStringFunc(value, Target)
}

// isSessionID reports whether a parameter of that name is a session id, which servers call
// sessionId, session_id or session.
func isSessionID(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	return name == "session" || strings.HasSuffix(name, "sessionid") || name == "connectionid" || name == "sid"
}

// eventData returns the redacted data of an event that is not a message: the URL of an
// endpoint, or anything else.
func (k Key) eventData(data string) string {
	if !strings.ContainsAny(data, " \n") && (strings.Contains(data, "?") || strings.HasPrefix(data, "/") || strings.Contains(data, "://")) {
		return k.target(data)
	}
	return string(Frame(wire.Mark, []byte(data)))
}

// Lead returns the framing in front of a frame with its secrets redacted, given the
// frame's redacted bytes, now. ok is false if the frame is derived from the lead and the
// redacted lead cannot represent those bytes.
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

// isEventStream reports whether a lead belongs to a text/event-stream. A WebSocket's lead
// has the bit for the last fragment set, which makes it invalid UTF-8.
func isEventStream(lead []byte) bool {
	return utf8.Valid(lead) && bytes.IndexByte(lead, ':') >= 0
}

// redactEvent returns the lead of an event with its data lines replaced by data, and its
// other lines without what looks like a secret.
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
