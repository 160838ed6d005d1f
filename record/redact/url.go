package redact

import (
	"bytes"
	"slices"
)

// unguessable finds in an element of a path what may have been made at random: a UUID, or
// many letters and digits.
var unguessable = compiledAtUse(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9A-Za-z]{16,}`)

// redactPath returns the URL of a server, or the target of a request, without those
// elements of its path that nobody can guess: hosted MCP servers tell their users apart by
// one, and ask for no other key.
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

// isMixed reports whether what may be random is neither a word nor a number.
func isMixed(s []byte) bool {
	digits := 0
	for _, c := range s {
		if isDigit(c) {
			digits++
		}
	}
	return digits >= 2 && len(s)-digits >= 2
}
