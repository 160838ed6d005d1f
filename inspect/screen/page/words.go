package page

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/acptap/acptap/record/termtext"
)

// Words are the words of a search. The zero Words match nothing.
//
// Case matters if the words have a capital letter. A blank in the words matches any
// blanks, and the end of a line whose text continues on the next one.
type Words struct {
	text    string // as typed
	phrases []phrase
	regexps []*regexp.Regexp
	each    bool // all occurrences on a row form one match
}

// A phrase is a sequence of pieces separated by blanks.
type phrase struct {
	pieces []string
	exact  bool   // case-sensitive
	starts string // characters that it may begin with
}

// Phrase returns words that must follow one another.
func Phrase(text string) Words {
	w := Words{text: text}
	if pieces := strings.Fields(text); len(pieces) > 0 {
		w.phrases = []phrase{newPhrase(pieces)}
	}
	return w
}

// Each returns the words of a text, in any order. All occurrences on a row form one
// match.
func Each(text string) Words {
	w := Any(strings.Fields(text), nil)
	w.text, w.each = text, true
	return w
}

// Any returns texts and regular expressions, any of which may match.
func Any(texts []string, regexps []*regexp.Regexp) Words {
	var w Words
	for _, text := range texts {
		w.phrases = append(w.phrases, Phrase(text).phrases...)
	}
	w.regexps = regexps
	var names []string
	for _, p := range w.phrases {
		names = append(names, strings.Join(p.pieces, " "))
	}
	for _, re := range regexps {
		names = append(names, re.String())
	}
	w.text = strings.Join(names, " | ")
	return w
}

func newPhrase(pieces []string) phrase {
	p := phrase{pieces: pieces}
	for _, piece := range pieces {
		p.exact = p.exact || strings.ContainsFunc(piece, unicode.IsUpper)
	}
	first, _ := utf8.DecodeRuneInString(pieces[0])
	p.starts = string(first)
	for r := unicode.SimpleFold(first); r != first && !p.exact; r = unicode.SimpleFold(r) {
		if r < utf8.RuneSelf || first >= utf8.RuneSelf { // the Kelvin sign does not match k, which makes this much faster
			p.starts += string(r)
		}
	}
	return p
}

// IsZero reports whether there are no words.
func (w Words) IsZero() bool { return w.phrases == nil && w.regexps == nil }

// String returns the words as typed.
func (w Words) String() string { return w.text }

// Fit reports whether a text contains each of the words.
func (w Words) Fit(text string) bool {
	for _, p := range w.phrases {
		if !p.in(text) {
			return false
		}
	}
	return true
}

// In returns the byte ranges of matches in a text, in order and without overlap. It omits
// empty matches of regular expressions.
func (w Words) In(text string) [][2]int { return w.appendIn(nil, text) }

// Marks returns the ranges that In returns as marks.
func (w Words) Marks(text string) []Mark {
	var marks []Mark
	for _, at := range w.In(text) {
		marks = append(marks, Mark{From: at[0], To: at[1]})
	}
	return marks
}

// appendIn appends the ranges that In returns to found, which must be empty.
func (w Words) appendIn(found [][2]int, text string) [][2]int {
	for _, p := range w.phrases {
		found = p.appendIn(found, text)
	}
	for _, re := range w.regexps {
		for _, at := range re.FindAllStringIndex(text, -1) {
			if at[0] < at[1] {
				found = append(found, [2]int{at[0], at[1]})
			}
		}
	}
	if len(w.phrases)+len(w.regexps) < 2 {
		return found
	}
	slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	end := 0
	return slices.DeleteFunc(found, func(at [2]int) bool {
		inside := at[0] < end
		if !inside {
			end = at[1]
		}
		return inside
	})
}

func (p *phrase) appendIn(found [][2]int, text string) [][2]int {
	for from := 0; ; {
		at, n := p.index(text[from:])
		if n == 0 {
			return found
		}
		found = append(found, [2]int{from + at, from + at + n})
		from += at + n
	}
}

func (p *phrase) in(text string) bool {
	_, n := p.index(text)
	return n > 0
}

// index returns where the phrase first occurs in a text, and its length there in bytes,
// which is 0 if it does not occur.
func (p *phrase) index(text string) (at, n int) {
	for {
		i := strings.IndexAny(text[at:], p.starts)
		if i < 0 {
			return 0, 0
		}
		at += i
		if n := p.length(text[at:]); n > 0 {
			return at, n
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
}

// length returns the length in bytes of the phrase at the beginning of a text, or 0 if
// the text does not begin with it.
func (p *phrase) length(text string) int {
	rest := text
	for i, piece := range p.pieces {
		if i > 0 {
			trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
			if len(trimmed) == len(rest) {
				return 0
			}
			rest = trimmed
		}
		n := len(piece)
		if !p.exact {
			n = foldedLength(rest, piece)
		} else if !strings.HasPrefix(rest, piece) {
			n = 0
		}
		if n == 0 {
			return 0
		}
		rest = rest[n:]
	}
	return len(text) - len(rest)
}

// foldedLength returns the length in bytes of a piece at the beginning of a text,
// ignoring case, or 0 if the text does not begin with it.
func foldedLength(text, piece string) int {
	n := 0
	for _, r := range piece {
		c, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || !termtext.Folds(r, c) {
			return 0
		}
		n += size
	}
	return n
}
