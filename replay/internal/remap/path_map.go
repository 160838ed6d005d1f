package remap

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

// A PathMap maps recorded directories to live ones. It cannot map back: two recorded
// directories may be the same live one.
type PathMap struct {
	pairs []pathPair // longest recorded path first
	moved bool       // in some pairs the paths differ
	plain bool       // no live path needs an escape in JSON
}

// A pathPair is a recorded directory and the live one.
type pathPair struct {
	recorded, now string
	sought        []byte // recorded, as bytes
	uri           bool   // spelled as in a URI, with percent-encoding
	typed         bool   // so short that it may occur by chance: replaced only where a path is required
}

// Learn maps a recorded directory to a live one. A directory that is already mapped
// keeps its mapping.
func (r *PathMap) Learn(recorded, now string) {
	recorded, now = trimSlash(recorded), trimSlash(now)
	if recorded == "" || now == "" {
		return
	}
	r.add(pathPair{recorded: recorded, now: now, typed: shallow(recorded)})
	if from, to := escapePath(recorded), escapePath(now); from != recorded || to != now {
		r.add(pathPair{recorded: from, now: to, uri: true, typed: shallow(recorded)})
	}
}

func (r *PathMap) add(p pathPair) {
	for _, have := range r.pairs {
		if have.recorded == p.recorded && have.uri == p.uri {
			return
		}
	}
	p.sought = []byte(p.recorded)
	r.pairs = append(r.pairs, p)
	slices.SortStableFunc(r.pairs, func(a, b pathPair) int { return len(b.recorded) - len(a.recorded) })
	r.plain = (r.plain || len(r.pairs) == 1) && isPlain(p.now)
	r.moved = r.moved || p.recorded != p.now
}

// Join adds the directories of other.
func (r *PathMap) Join(other *PathMap) {
	for _, p := range other.pairs {
		r.add(p)
	}
}

// isPlain reports whether text needs no escape in a JSON string.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c == utf8.RuneError })
}

// trimSlash removes slashes at the end of a path, except from the root directory.
func trimSlash(path string) string {
	for len(path) > 1 && strings.HasSuffix(path, "/") {
		path = path[:len(path)-1]
	}
	return path
}

// shallow reports whether a path is a root or a drive, or has one component.
func shallow(path string) bool {
	path = strings.ReplaceAll(path, `\`, "/")
	if len(path) >= 2 && path[1] == ':' {
		path = path[2:]
	}
	return strings.Count(strings.TrimPrefix(path, "/"), "/") == 0
}

func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// Size returns the number of mapped directories. It counts a directory twice if its
// spelling in a URI differs.
func (r *PathMap) Size() int { return len(r.pairs) }

// Rewrite maps the paths in a message's strings. Strings and messages without paths keep
// their bytes. Rewrite changes neither keys nor the values of data and blob, which are
// base64.
func (r *PathMap) Rewrite(message []byte) []byte {
	if r == nil || !r.moved || !r.perhaps(message) {
		return message
	}
	var out []byte
	done := 0      // bytes of message that are in out
	var key []byte // the last one, with its quotes
	text := wire.Reader{Text: message}
	for {
		token, start := text.NextString()
		if token == wire.NoToken {
			break
		}
		literal := message[start:text.Pos]
		if token == wire.MemberName {
			key = literal
			continue
		}
		if !r.concerns(literal, key) {
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(message)+len(message)/4+64)
		}
		kept := len(out)
		out = append(out, message[done:start]...)
		mapped, ok := r.literal(out, literal, key)
		if ok {
			out, done = mapped, text.Pos
		} else {
			out = out[:kept]
		}
	}
	if done == 0 {
		return message
	}
	return append(out, message[done:]...)
}

// perhaps reports whether a message may contain a recorded path.
func (r *PathMap) perhaps(message []byte) bool {
	// Escapes allow many spellings of a path.
	return r.in(message) || bytes.IndexByte(message, '\\') >= 0
}

// in reports whether text contains one of the recorded directories.
func (r *PathMap) in(text []byte) bool { return r.from(text, 0) < len(text) }

// pathKeys are the keys whose values are paths or contain them.
var pathKeys = map[string]bool{`"cwd"`: true, `"path"`: true, `"oldPath"`: true, `"uri"`: true, `"additionalDirectories"`: true, `"locations"`: true}

// concerns reports whether a JSON string under key may contain a recorded path.
func (r *PathMap) concerns(literal, key []byte) bool {
	if string(key) == `"data"` || string(key) == `"blob"` || len(literal) < 3 {
		return false
	}
	return r.perhaps(literal)
}

// literal maps the paths in a JSON string under key, and appends the result to dst. ok is
// false if the string has no path to map; out is then meaningless.
func (r *PathMap) literal(dst, literal, key []byte) (out []byte, ok bool) {
	text, typed := literal[1:len(literal)-1], pathKeys[string(key)]
	if escaped := bytes.IndexByte(literal, '\\') >= 0; !escaped && r.plain {
		if dst, ok = r.appendText(append(dst, '"'), text, typed); !ok {
			return dst, false
		}
		return append(dst, '"'), true
	} else if escaped {
		if text, ok = wire.Unquote(literal); !ok {
			return dst, false
		}
	}
	mapped, ok := r.appendText(nil, text, typed)
	if !ok {
		return dst, false
	}
	return append(dst, wire.Encode(string(mapped))...), true
}

// Text maps the paths in s. typed means that s is a path. ok is false if no path in s has
// moved.
func (r *PathMap) Text(s string, typed bool) (mapped string, ok bool) {
	out, ok := r.appendText(nil, []byte(s), typed)
	if !ok {
		return s, false
	}
	return string(out), true
}

// appendText maps the paths in s and appends the result to dst, in one pass: it does not
// remap its own output. ok is false if no path in s has moved; out is then meaningless.
func (r *PathMap) appendText(dst, s []byte, typed bool) (out []byte, ok bool) {
	done := 0
	for i := r.from(s, 0); i < len(s); i = r.from(s, i+1) {
		p := r.at(s, i, typed)
		if p == nil {
			continue
		}
		end := i + len(p.recorded)
		now := p.now
		if now == "/" && end < len(s) && s[end] == '/' {
			now = ""
		}
		if p.recorded == "/" && end < len(s) && now != "/" {
			now += "/"
		}
		dst = append(append(dst, s[done:i]...), now...)
		ok = ok || p.now != p.recorded
		done, i = end, end-1
	}
	return append(dst, s[done:]...), ok
}

// from returns the offset in s, from i on, of the next recorded directory, or the length
// of s if there is none.
func (r *PathMap) from(s []byte, i int) int {
	first := len(s)
	for k := range r.pairs {
		if n := bytes.Index(s[i:], r.pairs[k].sought); n >= 0 {
			first = min(first, i+n)
		}
	}
	return first
}

// at returns the pair whose recorded path is at s[i], either alone or as the beginning of
// a longer path, or nil.
func (r *PathMap) at(s []byte, i int, typed bool) *pathPair {
	for k := range r.pairs {
		p := &r.pairs[k]
		if !bytes.HasPrefix(s[i:], p.sought) {
			continue
		}
		inURI := bytes.HasSuffix(s[:i], []byte("file://"))
		switch {
		case p.uri && !inURI:
		case p.typed && (!typed || i > 0 && !inURI):
		case !inURI && joinedBefore(s[:i]):
		case p.recorded != "/" && joinedBehind(s[i+len(p.recorded):]):
		default:
			return p
		}
	}
	return nil
}

// joinedBefore reports whether a path that follows s would be the end of a longer one.
func joinedBefore(s []byte) bool {
	c, n := utf8.DecodeLastRune(s)
	return n > 0 && (inName(c) || c == '.' || c == '/')
}

// joinedBehind reports whether s continues the last name of the preceding path. A dot
// does not if it ends a sentence.
func joinedBehind(s []byte) bool {
	c, n := utf8.DecodeRune(s)
	if n > 0 && c == '.' {
		c, n = utf8.DecodeRune(s[1:])
		return n > 0 && (unicode.IsLetter(c) || unicode.IsDigit(c))
	}
	return n > 0 && inName(c)
}

func inName(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '-'
}
