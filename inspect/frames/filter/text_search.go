package filter

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A textSearch searches bytes for a text, case-sensitively if the text has a capital
// letter. Otherwise letters are equal under Unicode's simple folding.
type textSearch struct {
	text []byte
	fold bool

	// To find text regardless of case, find its rarest character, then compare the text
	// around it.
	before, after string
	anchors       [][]byte // that character in each case, at most maxCases
}

// maxCases limits how many characters are equal regardless of case; θ has four.
const maxCases = 4

func newTextSearch(text string) *textSearch {
	n := &textSearch{text: []byte(text)}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsUpper) {
		return n
	}
	rarest := -1
	for i, r := range text {
		forms := cases(r)
		n.fold = n.fold || len(forms) > 1
		if how := commonness(r); rarest < 0 || how < rarest {
			rarest = how
			n.before, n.after = text[:i], text[i+utf8.RuneLen(r):]
			n.anchors = forms
		}
	}
	return n
}

// cases returns all case variants of a character.
func cases(r rune) [][]byte {
	forms := [][]byte{utf8.AppendRune(nil, r)}
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		forms = append(forms, utf8.AppendRune(nil, c))
	}
	return forms
}

// byRarity lists the ASCII characters of agents' traffic, rarest first, as far as the
// order matters.
const byRarity = "zqjxkvwybgfphm9876543)(][_20.lucdr1i:osn/,tae }{\""

// commonness ranks how often a character occurs. Characters outside ASCII are usually
// rare, but share their first bytes.
func commonness(r rune) int {
	if i := strings.IndexRune(byRarity, r); i >= 0 || r < utf8.RuneSelf {
		return i + 1
	}
	return len("zqjxkvwybg")
}

// in reports whether b contains the text unchanged.
func (n *textSearch) in(b []byte) bool {
	if !n.fold {
		return bytes.Contains(b, n.text)
	}
	var places [maxCases]int
	for i, a := range n.anchors {
		places[i] = indexFrom(b, a, 0)
	}
	for {
		first := 0
		for i := range n.anchors {
			if places[i] < places[first] {
				first = i
			}
		}
		at := places[first]
		if at == len(b) {
			return false
		}
		anchor := n.anchors[first]
		if endsWith(b[:at], n.before) && beginsWith(b[at+len(anchor):], n.after) {
			return true
		}
		places[first] = indexFrom(b, anchor, at+1)
	}
}

// indexFrom returns the index of sep in b at or after from, or len(b) if there is none.
func indexFrom(b, sep []byte, from int) int {
	i := -1
	if len(sep) == 1 {
		i = bytes.IndexByte(b[from:], sep[0])
	} else {
		i = bytes.Index(b[from:], sep)
	}
	if i < 0 {
		return len(b)
	}
	return from + i
}

func beginsWith(b []byte, text string) bool {
	for _, r := range text {
		c, size := utf8.DecodeRune(b)
		if size == 0 || !termtext.Folds(r, c) {
			return false
		}
		b = b[size:]
	}
	return true
}

func endsWith(b []byte, text string) bool {
	for len(text) > 0 {
		r, n := utf8.DecodeLastRuneInString(text)
		c, size := utf8.DecodeLastRune(b)
		if size == 0 || !termtext.Folds(r, c) {
			return false
		}
		text, b = text[:len(text)-n], b[:len(b)-size]
	}
	return true
}

func contains(v string) pattern { return newTextSearch(v) }

func (n *textSearch) match(s string) bool { return n.in([]byte(s)) }

// textTerm matches text anywhere in a frame, either in the raw bytes or with JSON string
// escapes decoded. After = the text must be the whole frame, such as a line of stderr.
func textTerm(w written, _ string) (test, string) {
	p, problem := patternOf(w, contains)
	in := func(s *Subject) bool { return p.match(string(s.Raw)) }
	if inBytes, ok := p.(interface{ in([]byte) bool }); ok {
		in = func(s *Subject) bool {
			escapes := s.Kind != wire.Stderr && bytes.IndexByte(s.Raw, '\\') >= 0
			return inBytes.in(s.Raw) || escapes && inBytes.in(unescaped(s.Raw))
		}
	}
	return test{ofBytes, func(s *Subject) verdict {
		switch whole, ok := p.(exact); {
		case ok && s.Size != int64(len(whole)):
			return no
		case s.bare():
			return perhaps
		}
		return sure(in(s))
	}, p}, problem
}

// unescaped returns raw with the escapes of JSON decoded. JSON has backslashes only in
// strings.
func unescaped(raw []byte) []byte {
	text := make([]byte, 0, len(raw))
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(text, raw...)
		}
		text, raw = unescape(append(text, raw[:i]...), raw[i:])
	}
}

// unescape appends the character for the escape at the beginning of raw, and returns the
// rest of raw. As in encoding/json, half a surrogate pair becomes U+FFFD. An invalid
// escape loses its backslash.
func unescape(text, raw []byte) (longer, rest []byte) {
	if len(raw) == 1 {
		return append(text, raw...), nil
	}
	if r, ok := codeUnit(raw); ok {
		raw = raw[6:]
		if utf16.IsSurrogate(r) {
			low, _ := codeUnit(raw)
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				raw = raw[6:]
			}
		}
		return utf8.AppendRune(text, r), raw
	}
	c := raw[1]
	if i := strings.IndexByte("nrtbf", c); i >= 0 {
		c = "\n\r\t\b\f"[i]
	}
	return append(text, c), raw[2:]
}

// codeUnit returns the UTF-16 code unit of an escape such as \u00e9 at the beginning of
// b.
func codeUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
