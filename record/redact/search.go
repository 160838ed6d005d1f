package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// A span is the place of a secret in a text.
type span struct{ from, to int }

// A search looks for secrets in a text in one way after the other. What one way finds is
// masked for those that follow, which neither find it again nor take it for part of
// something else.
type search struct {
	text  []byte // masked where something was found
	found []span
}

// mask replaces each byte of a secret that was found. Like the Placeholder it ends a token,
// and cannot begin a value.
const mask = '['

func (s *search) add(from, to int) {
	if s.found == nil {
		s.text = bytes.Clone(s.text) // the caller owns the original
	}
	s.found = append(s.found, span{from, to})
	for i := from; i < to; i++ {
		s.text[i] = mask
	}
}

// spans returns what was found, in order.
func (s *search) spans() []span { return joined(s.found) }

// joined returns spans in order, with overlapping ones merged. It overwrites all.
func joined(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	kept := all[:0]
	for _, one := range all {
		if last := len(kept) - 1; last >= 0 && one.from < kept[last].to {
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
	s.manifests()
	s.listeners()
	s.passwords()
	s.spaced()
	s.assigned(false)
}

// shortestText is the length from which a text can look like a secret: a://u:p@h. Most
// strings of a frame are shorter names and ids.
const shortestText = 9

// without returns a text with placeholders for what find finds; the text itself if it finds
// nothing.
func without(text []byte, find func(*search)) []byte {
	s := search{text: text}
	find(&s)
	return replaced(text, s.spans())
}

// redactText returns a text without what looks like a secret; the text itself if
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

// An edit is a text some parts of which are being replaced.
type edit struct {
	out  []byte // nil until the first replacement
	done int    // everything before it is in out
}

func (e *edit) replace(s []byte, from, to int, with string) {
	if e.out == nil {
		e.out = make([]byte, 0, len(s)+len(Placeholder))
	}
	e.out = append(append(e.out, s[e.done:from]...), with...)
	e.done = to
}

// text returns the text with all replacements; s itself if there are none.
func (e *edit) text(s []byte) []byte {
	if e.out == nil {
		return s
	}
	return append(e.out, s[e.done:]...)
}
