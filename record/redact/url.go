package redact

import (
	"bytes"
	"slices"
	"strings"
)

// unguessable matches what may be random in an element of a path: a UUID, or many letters
// and digits.
var unguessable = compiledAtUse(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9A-Za-z]{16,}`)

// redactPath returns the URL of a server, or the target of a request, without the
// unguessable elements of its path: hosted MCP servers recognize their users by one, and
// ask for no other key.
func redactPath(url []byte) []byte {
	path, rest := url, []byte(nil)
	if i := bytes.IndexAny(url, "?#"); i >= 0 {
		path, rest = url[:i], url[i:]
	}
	elements := bytes.Split(path, []byte("/"))
	first := 0
	if bytes.HasSuffix(elements[0], []byte(":")) { // scheme://host
		first = min(3, len(elements))
	}
	for i, e := range elements[first:] {
		if slices.ContainsFunc(unguessable().FindAll(e, -1), isMixed) {
			elements[first+i] = []byte(Placeholder)
		}
	}
	return append(bytes.Join(elements, []byte("/")), rest...)
}

// isMixed reports whether a possibly random text is neither a word nor a number.
func isMixed(s []byte) bool {
	digits := 0
	for _, c := range s {
		if isDigit(c) {
			digits++
		}
	}
	return digits >= 2 && len(s)-digits >= 2
}

// passwords looks for the password in scheme://user:password@host, and for what looks like
// a token in the user's place.
func (s *search) passwords() {
	for i := 0; ; {
		t := s.text
		n := bytes.Index(t[i:], []byte("://"))
		if n < 0 {
			return
		}
		from := i + n + len("://")
		for i = from; i < len(t) && strings.IndexByte(" \t\r\n\"'`<>\\/?#", t[i]) < 0; i++ {
		}
		at := bytes.LastIndexByte(t[from:i], '@')
		if at < 0 {
			continue
		}
		colon := bytes.IndexByte(t[from:from+at], ':')
		switch {
		case colon >= 0 && colon+1 < at:
			s.add(from+colon+1, from+at)
		case colon < 0 && at >= 16 && looksSecret(t[from:from+at]):
			s.add(from, from+at)
		}
	}
}
