package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

// Quoted returns text that quotes from frames without the secrets of these frames,
// including the beginnings of secrets where a quotation ends in an ellipsis, and without
// what looks like a secret by itself.
func Quoted(text string, frames ...Bytes) string {
	if text == "" {
		return ""
	}
	var secrets []string
	for _, f := range frames {
		secrets = append(secrets, f.secrets()...)
	}
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may contain another
	for _, s := range secrets {
		if text == s || text == `"`+s+`"` {
			return Placeholder
		}
		if len(s) >= shortestQuoted {
			text = strings.ReplaceAll(text, s, Placeholder)
		}
	}
	return string(Frame(wire.Stderr, []byte(withoutBeginnings(text, secrets))))
}

// Bytes are the bytes of a frame.
type Bytes struct {
	Kind wire.Kind
	Raw  []byte
}

// shortestQuoted is the length of the shortest secret, or beginning of a secret, searched
// for in other text.
const shortestQuoted = 4

const ellipsis = "…"

// withoutBeginnings replaces the beginnings of secrets before an ellipsis.
func withoutBeginnings(text string, secrets []string) string {
	parts := strings.Split(text, ellipsis)
	for i, part := range parts[:len(parts)-1] {
		for _, s := range secrets {
			for n := min(len(s), len(part)); n >= shortestQuoted; n-- {
				if strings.HasSuffix(part, s[:n]) {
					parts[i] = part[:len(part)-n] + Placeholder
					break
				}
			}
		}
	}
	return strings.Join(parts, ellipsis)
}

// secrets returns what Frame removes from a frame, each as text and as encoded in JSON.
func (f Bytes) secrets() []string {
	was, now := f.Raw, Frame(f.Kind, f.Raw)
	if f.Kind == wire.Mark { // an export shows HTTP headers that are not secret
		now = Key{}.Mark(f.Raw)
	}
	if bytes.Equal(was, now) {
		return nil
	}
	if !f.Kind.IsMessage() && !(json.Valid(was) && utf8.Valid(was)) {
		return removed(was, now)
	}
	var all []string
	a, b := wire.Reader{Text: was}, wire.Reader{Text: now}
	for a.Pos < len(was) && b.Pos < len(now) {
		switch {
		case was[a.Pos] == '"' && now[b.Pos] == '"':
			x, y := a.Quoted(), b.Quoted()
			if !bytes.Equal(x, y) {
				all = append(all, removed(unquote(x), unquote(y))...)
				all = append(all, removed(x[1:len(x)-1], y[1:len(y)-1])...)
			}
		case was[a.Pos] == now[b.Pos]:
			a.Pos++
			b.Pos++
		case now[b.Pos] == '"': // in place of a number
			start := a.Pos
			a.Value()
			b.Quoted()
			all = append(all, string(was[start:a.Pos]))
		default:
			return append(removed(was, now), all...)
		}
	}
	return all
}

// removed returns the parts of a text that placeholders have replaced; the whole text if
// they look the same.
func removed(was, now []byte) []string {
	var all []string
	kept := bytes.Split(now, []byte(Placeholder))
	rest, ok := bytes.CutPrefix(was, kept[0])
	if !ok || len(kept) == 1 {
		return []string{string(was)}
	}
	for i, part := range kept[1:] {
		end := bytes.Index(rest, part)
		if i == len(kept)-2 {
			end = len(rest) - len(part)
		}
		if end < 0 || !bytes.HasPrefix(rest[end:], part) {
			return []string{string(was)}
		}
		if end > 0 {
			all = append(all, string(rest[:end]))
		}
		rest = rest[end+len(part):]
	}
	return all
}
