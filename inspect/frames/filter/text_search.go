package filter

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A textSearch searches bytes for a text. Case counts if the text has a capital letter;
// otherwise letters are equal under Unicode's simple folding.
type textSearch struct {
	text []byte
	fold bool

	// To find text regardless of case, look for its rarest character, then compare the text
	// around it.
	before, after string
	anchors       [][]byte // that character in each of its cases, at most maxCases

	reach int // the most bytes that a match takes; 0 if it cannot occur in JSON, which is UTF-8
}

// maxCases is how many characters may be equal regardless of case; θ has four.
const maxCases = 4

func newTextSearch(text string) *textSearch {
	n := &textSearch{text: []byte(text)}
	switch {
	case !utf8.ValidString(text):
		return n
	case strings.ContainsFunc(text, unicode.IsUpper):
		n.reach = len(text)
		return n
	}
	rarest := -1
	for i, r := range text {
		forms := cases(r)
		n.fold = n.fold || len(forms) > 1
		longest := 0
		for _, form := range forms {
			longest = max(longest, len(form))
		}
		n.reach += longest
		if how := commonness(r); rarest < 0 || how < rarest {
			rarest = how
			n.before, n.after = text[:i], text[i+utf8.RuneLen(r):]
			n.anchors = forms
		}
	}
	return n
}

// cases returns a character in all of its cases.
func cases(r rune) [][]byte {
	forms := [][]byte{utf8.AppendRune(nil, r)}
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		forms = append(forms, utf8.AppendRune(nil, c))
	}
	return forms
}

// byRarity is the ASCII of agents' traffic, rarest first, as far as the order matters.
const byRarity = "zqjxkvwybgfphm9876543)(][_20.lucdr1i:osn/,tae }{\""

// commonness ranks how often a character occurs. Characters outside ASCII are usually rare,
// but share their first bytes.
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
		if size == 0 || !same(r, c) {
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
		if size == 0 || !same(r, c) {
			return false
		}
		text, b = text[:len(text)-n], b[:len(b)-size]
	}
	return true
}

// same reports whether two characters are equal regardless of case.
func same(r, c rune) bool {
	if r == c {
		return true
	}
	if r < utf8.RuneSelf && c < utf8.RuneSelf {
		return r|0x20 == c|0x20 && isLetter(byte(r))
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f == c {
			return true
		}
	}
	return false
}

func contains(v string) pattern { return newTextSearch(v) }

func (n *textSearch) match(s string) bool { return n.in([]byte(s)) }
