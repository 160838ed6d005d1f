package redact

import (
	"bytes"
	"strings"
)

// quotes are the pairs of marks between which a value may be; within JSON and code, quotes
// are escaped.
var quotes = [...]struct{ open, end string }{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {`\"`, `\"`}, {`\'`, `\'`}, {"“", "”"}, {"‘", "’"}, {"„", "“"}}

// quotedAt returns what is between the quotes that open at t[i] and close on the same line,
// and the place after them.
func quotedAt(t []byte, i int) (in span, end int, ok bool) {
	if i == len(t) || strings.IndexByte("\"'`\\\xe2", t[i]) < 0 {
		return in, i, false
	}
	for _, q := range quotes {
		if bytes.HasPrefix(t[i:], []byte(q.open)) {
			from := i + len(q.open)
			n := bytes.Index(head(near(t[from:]), "\r\n"), []byte(q.end))
			return span{from, from + n}, from + n + len(q.end), n >= 0
		}
	}
	return in, i, false
}

// skipMarks returns the place after the given marks, and after closing tags of HTML.
func skipMarks(t []byte, i int, marks string) int {
	for i < len(t) {
		if strings.IndexByte(marks, t[i]) >= 0 {
			i++
			continue
		}
		n := -1
		if bytes.HasPrefix(t[i:], []byte("</")) {
			n = bytes.IndexByte(t[i:min(len(t), i+16)], '>')
		}
		if n < 0 {
			break
		}
		i += n + 1
	}
	return i
}

// nextWord returns the next word of the line after t[i], up to a blank.
func nextWord(t []byte, i int) span {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	to := i
	for to < len(t) && strings.IndexByte(" \t\r\n|", t[to]) < 0 && to-i < 512 {
		to++
	}
	return span{i, to}
}

// lastWord returns the last word of the line before t[i], from a blank.
func lastWord(t []byte, i int) span {
	for i > 0 && (t[i-1] == ' ' || t[i-1] == '\t') {
		i--
	}
	from := i
	for from > 0 && strings.IndexByte(" \t\r\n|", t[from-1]) < 0 && i-from < 512 {
		from--
	}
	return span{from, i}
}

// beginsWord reports whether a word may begin at s[i]. In JSON within a string it may
// follow the letter of an escape sequence.
func beginsWord(s []byte, i int) bool {
	if i == 0 || !isLetter(s[i-1]) && !isDigit(s[i-1]) {
		return true
	}
	return i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

// goesOn reports whether a word follows without a sign in between: 123456 lines.
func goesOn(s []byte) bool { return len(s) > 1 && s[0] == ' ' && isLetter(s[1]) }

// head returns s up to the first of the bytes in until.
func head(s []byte, until string) []byte {
	if n := bytes.IndexAny(s, until); n >= 0 {
		return s[:n]
	}
	return s
}

// near returns the part of s that is examined to classify it. The limit matters because a
// text may be full of names.
func near(s []byte) []byte { return s[:min(len(s), 2<<10)] }

// trimEnd is bytes.TrimRight for texts that usually end with none of the bytes.
func trimEnd(s []byte, cut string) []byte {
	for len(s) > 0 && strings.IndexByte(cut, s[len(s)-1]) >= 0 {
		s = s[:len(s)-1]
	}
	return s
}
