package compare

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/acptap/acptap/record/linediff"
)

// A Part is a part of a step that its counterpart shares or lacks.
type Part struct {
	Text    string
	Differs bool
}

// Shown returns the part cut to room bytes: it drops the end, or the beginning if the
// part is the first of its step and does not differ.
func (p Part) Shown(first bool, room int) string {
	switch {
	case len(p.Text) <= room:
		return p.Text
	case first && !p.Differs:
		return "…" + strings.ToValidUTF8(p.Text[len(p.Text)-room:], "")
	}
	return strings.ToValidUTF8(p.Text[:room], "") + "…"
}

// maxDiffered is the greatest length at which steps are compared word by word. Longer
// steps are compared at both ends only.
const maxDiffered = 1 << 10

// Parts divides two steps into what they share and what differs. If they share hardly
// anything, everything differs: a few remaining blanks and commas would only distract.
func Parts(a, b string) (old, new []Part) {
	if len(a) > maxDiffered || len(b) > maxDiffered {
		head := commonPrefix(a, b)
		tail := commonSuffix(a[head:], b[head:])
		return around(a, head, tail), around(b, head, tail)
	}
	wordsA, wordsB := tokens(a), tokens(b)
	common := linediff.Common(wordsA, wordsB)
	if !worthwhile(common, wordsA, len(a), len(b)) {
		depth := commonDepth(a, b)
		return around(a, depth, 0), around(b, depth, 0)
	}
	i, j := 0, 0
	for _, m := range append(common, linediff.Match{A: len(wordsA), B: len(wordsB)}) {
		old = appendPart(old, strings.Join(wordsA[i:m.A], ""), true)
		new = appendPart(new, strings.Join(wordsB[j:m.B], ""), true)
		same := strings.Join(wordsA[m.A:m.A+m.N], "")
		old, new = appendPart(old, same, false), appendPart(new, same, false)
		i, j = m.A+m.N, m.B+m.N
	}
	return old, new
}

// worthwhile reports whether two lines share enough words that marking them helps.
func worthwhile(common []linediff.Match, words []string, sizeA, sizeB int) bool {
	size := 0
	for _, m := range common {
		for _, word := range words[m.A : m.A+m.N] {
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				size += len(word)
			}
		}
	}
	return 4*size >= min(sizeA, sizeB)
}

// commonDepth returns the length of the indentation that two lines share, including the
// mark of a text line.
func commonDepth(a, b string) int {
	depth := min(len(a)-len(strings.TrimLeft(a, " ")), len(b)-len(strings.TrimLeft(b, " ")))
	if strings.HasPrefix(a[depth:], "| ") && strings.HasPrefix(b[depth:], "| ") {
		depth += len("| ")
	}
	return depth
}

func around(text string, head, tail int) []Part {
	var list []Part
	list = appendPart(list, text[:head], false)
	list = appendPart(list, text[head:len(text)-tail], true)
	return appendPart(list, text[len(text)-tail:], false)
}

func appendPart(list []Part, text string, differs bool) []Part {
	if text == "" {
		return list
	}
	if n := len(list) - 1; n >= 0 && list[n].Differs == differs {
		list[n].Text += text
		return list
	}
	return append(list, Part{text, differs})
}

// tokens splits text into words, blanks, and single other characters.
func tokens(text string) []string {
	var list []string
	from, before := 0, other
	for i, r := range text {
		kind := kindOf(r)
		if i > from && (kind != before || kind == other) {
			list = append(list, text[from:i])
			from = i
		}
		before = kind
	}
	if from < len(text) {
		list = append(list, text[from:])
	}
	return list
}

type charKind uint8

const (
	other charKind = iota
	blank
	inWord
)

func kindOf(r rune) charKind {
	switch {
	case unicode.IsSpace(r):
		return blank
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
		return inWord
	}
	return other
}

// commonPrefix returns the length in bytes of the common prefix of two texts, in whole
// characters.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) || n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// commonSuffix returns the length in bytes of the common suffix of two texts, in whole
// characters.
func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}
