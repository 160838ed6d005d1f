package redact

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// unguessable matches what may be random in an element of a path: a UUID, or many letters
// and digits.
var unguessable = lazyregexp.New(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9A-Za-z]{16,}`)

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
	const ends, more = " \t\r\n\"'`<>\\", "/?#" // the latter only end what comes before the path
	for i := 0; ; {
		t := s.text
		n := bytes.Index(t[i:], []byte("://"))
		if n < 0 {
			return
		}
		from := i + n + len("://")
		authority := head(t[from:], ends+more)
		i = from + len(authority)
		colon := bytes.IndexByte(authority, ':')
		at := bytes.LastIndexByte(authority, '@')
		if colon >= 0 && mayHoldPassword(authority[colon+1:]) {
			word, _, _ := bytes.Cut(head(near(t[from:]), ends), []byte("://"))
			if at < len(word) {
				at = max(at, lastUser(word, at))
			}
		}
		switch {
		case at < 0:
		case colon >= 0 && colon+1 < at && !noValues.have(t[from+colon+1:from+at]):
			s.add(from+colon+1, from+at)
			i = max(i, from+at)
		case colon < 0 && at >= 16 && looksSecret(t[from:from+at]):
			s.add(from, from+at)
		}
	}
}

// mayHoldPassword reports whether what follows the colon up to the path is part of a
// password in which / or the like was not escaped, and not a port.
func mayHoldPassword(s []byte) bool {
	return !isDigits(s) && bytes.IndexByte([]byte("{$%:["), s[0]) < 0 && string(s) != "port"
}

// lastUser returns the index of the @ before the host in the part of a URL after its
// scheme. That is at, the last @ before the path, if a name with a dot or a port follows
// it.
func lastUser(word []byte, at int) int {
	if at >= 0 {
		if host := head(word[at+1:], "/?#"); bytes.IndexAny(host, ".:") > 0 || len(host) == len(word[at+1:]) {
			return at
		}
	}
	for i := len(word) - 1; i > 0; i-- {
		if word[i] == '@' && word[i-1] != '/' && i+1 < len(word) && (isLetter(word[i+1]) || isDigit(word[i+1])) {
			return i + 1 + bytes.LastIndexByte(head(word[i+1:], "/?#"), '@')
		}
	}
	return at
}

// secretPath matches the random path element that keeps other programs on this machine away
// from a listener made for one server of an agent: it follows the server's name, in a URL or
// in the target of a request.
var secretPath = lazyregexp.New(`((?:://127\.0\.0\.1:[0-9]+|^)/[a-z]{8}-)([a-z2-7]{26})\b`)

// listeners looks for such paths in URLs. The listener ends with its proxy.
func (s *search) listeners() {
	if !s.contains("://127.0.0.1:") {
		return
	}
	for _, at := range secretPath().FindAllSubmatchIndex(s.text, -1) {
		s.add(at[4], at[5])
	}
}
