package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// A span is the place of a secret in a text.
type span struct{ from, to int }

// A search applies several ways of finding secrets to a text in turn. Whatever one finds
// is masked for those that follow, which neither find it again nor mistake it for part of
// something else. Placeholders in the text are masked from the beginning, so that a second
// search judges what is around them as the first one did.
type search struct {
	text  []byte // what is visible, masked where something was found
	found []span
	pairs *pairs // of text; nil until asked for
	at    []int  // where each byte of text is in the text that was given; nil: at the same place
}

func newSearch(text []byte) *search {
	s := new(search)
	s.text, s.at = visible(text)
	if bytes.Contains(s.text, placeholder) {
		s.text = bytes.ReplaceAll(s.text, placeholder, masked)
	}
	return s
}

// contains reports whether something is in the text.
func (s *search) contains(what string) bool {
	if s.pairs == nil {
		s.pairs = pairsOf(s.text)
	}
	return s.pairs.mayHave(what) && bytes.Contains(s.text, []byte(what))
}

// pairs has a bit for each pair of adjacent bytes in a text, as far as the bits
// distinguish them. It quickly rules out most of what a short text does not contain. A
// long text has most pairs.
type pairs [noPair/64 + 1]uint64

const noPair = 1 << 10

var allPairs = func() (p pairs) {
	for i := range p {
		p[i] = 1<<64 - 1
	}
	return p
}()

func pairsOf(text []byte) *pairs {
	const long = 2 << 10
	if len(text) > long {
		return &allPairs
	}
	p := new(pairs)
	p[noPair/64] = 1
	for i := 1; i < len(text); i++ {
		n := pair(text[i-1], text[i])
		p[n/64] |= 1 << (n % 64)
	}
	return p
}

// pair numbers a pair of bytes; pairs of letters differ.
func pair(a, b byte) uint { return (uint(a)*37 + uint(b)) % noPair }

// lastPair returns the number of the last two bytes of a text, or that of no pair, which pairs
// always have.
func lastPair(text string) uint {
	if len(text) < 2 {
		return noPair
	}
	return pair(text[len(text)-2], text[len(text)-1])
}

func (p *pairs) has(n uint) bool { return p[n/64]&(1<<(n%64)) != 0 }

func (p *pairs) mayHave(what string) bool {
	for i := 1; i < len(what); i++ {
		if !p.has(pair(what[i-1], what[i])) {
			return false
		}
	}
	return true
}

// mask replaces each byte of a secret that was found. Like the Placeholder it ends a token,
// and cannot begin a value.
const mask = '['

var (
	placeholder = []byte(Placeholder)
	masked      = bytes.Repeat([]byte{mask}, len(Placeholder))
)

func (s *search) add(from, to int) {
	if s.found == nil {
		s.text = bytes.Clone(s.text) // the caller owns the original
	}
	s.found = append(s.found, span{from, to})
	for i := from; i < to; i++ {
		s.text[i] = mask
	}
}

// spans returns where in the given text something was found, in order.
func (s *search) spans() []span {
	all := joined(s.found)
	if s.at != nil {
		for i, one := range all {
			all[i] = span{s.at[one.from], s.at[one.to-1] + 1}
		}
	}
	return all
}

// joined returns spans in order, with those merged that touch. It overwrites all.
func joined(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	kept := all[:0]
	for _, one := range all {
		if last := len(kept) - 1; last >= 0 && one.from <= kept[last].to {
			kept[last].to = max(kept[last].to, one.to)
		} else {
			kept = append(kept, one)
		}
	}
	return kept
}

// anyText looks for what looks like a secret in any text.
func (s *search) anyText() {
	if len(s.text) < shortestText {
		return
	}
	s.privateKeys()
	s.tokens()
	s.encoded()
	if isWord(s.text) {
		return
	}
	s.seeds()
	s.manifests()
	s.listeners()
	s.passwords()
	s.noted()
	s.commands()
	s.calls()
	s.tables()
	s.separated()
	s.inserts()
	s.assigned(false)
	s.mentions()
	s.accounts()
}

// isWord reports whether a text has none of the characters that reveal a non-token
// secret. Many strings in a frame are names of kinds and paths.
func isWord(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c == '=' || c == ':' || c == '>' || c == '(' || c == '|' || c == ',' {
			return false
		}
	}
	return true
}

// shortestText is the length from which a text can look like a secret: a://u:p@h. Most
// strings of a frame are shorter names and ids.
const shortestText = 9

// without returns a text with placeholders for what find finds, or the text itself if it
// finds nothing.
func without(text []byte, find func(*search)) []byte {
	s := newSearch(text)
	find(s)
	return replaced(text, s.spans())
}

// redactText returns a text without what looks like a secret, or the text itself if
// nothing does.
func redactText(text []byte) []byte { return without(text, (*search).anyText) }

// redactSetting redacts the value of a setting, such as an argument, which is not code.
func redactSetting(text []byte) []byte {
	return without(text, func(s *search) {
		s.anyText()
		s.assigned(true)
	})
}

// replaced returns a text with placeholders for the given spans.
func replaced(text []byte, at []span) []byte {
	var e edit
	for _, one := range at {
		e.replace(text, one.from, one.to, Placeholder)
	}
	return e.text(text)
}

// An edit is a text in which parts are being replaced.
type edit struct {
	out  []byte // nil until the first replacement
	done int    // everything before it is in out
}

func (e *edit) replace(s []byte, from, to int, with string) {
	if e.out == nil {
		e.out = make([]byte, 0, len(s)+len(Placeholder))
	}
	e.out = append(append(e.out, withoutEscape(s[e.done:from])...), with...)
	e.done = to
}

// text returns the text with all replacements; s itself if there are none.
func (e *edit) text(s []byte) []byte {
	if e.out == nil {
		return s
	}
	return append(e.out, s[e.done:]...)
}
