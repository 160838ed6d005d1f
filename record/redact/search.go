package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// A span is where a secret stands in a text.
type span struct{ from, to int }

// A search looks for secrets in a text, one way after the other. What one way has found
// is masked for those that follow: they neither find it again nor take it for a part of
// something else.
type search struct {
	text  []byte // masked where something was found
	found []span
}

// mask stands for each byte of a secret that was found. Like the Placeholder it ends a
// token, and begins no value.
const mask = '['

func (s *search) add(from, to int) {
	if s.found == nil {
		s.text = bytes.Clone(s.text) // it is the caller's
	}
	s.found = append(s.found, span{from, to})
	for i := from; i < to; i++ {
		s.text[i] = mask
	}
}

// spans returns what was found, in order.
func (s *search) spans() []span { return joined(s.found) }

// joined returns spans in order, and one for those that overlap. It writes over all.
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

// shortestText spares the names and ids that most strings of a frame are: in
// less than a://u:p@h nothing looks like a secret.
const shortestText = 9

// without returns a text with placeholders for what is found in it; the text itself if
// nothing is.
func without(text []byte, find func(*search)) []byte {
	s := search{text: text}
	find(&s)
	return replaced(text, s.spans())
}

// redactText returns a text without what looks like a secret; the text itself if
// nothing does.
func redactText(text []byte) []byte { return without(text, (*search).anyText) }

// redactSetting takes the value of a setting, such as an argument, which is no code.
func redactSetting(text []byte) []byte {
	return without(text, func(s *search) {
		s.anyText()
		s.assigned(true)
	})
}

// replaced returns a text with placeholders for what stands at these places.
func replaced(text []byte, at []span) []byte {
	var e edit
	for _, one := range at {
		e.replace(text, one.from, one.to, Placeholder)
	}
	return e.text(text)
}

// An edit is a text in which parts are being replaced.
type edit struct {
	out  []byte // nil until there was one
	done int    // what stands before is in out
}

func (e *edit) replace(s []byte, from, to int, with string) {
	if e.out == nil {
		e.out = make([]byte, 0, len(s)+len(Placeholder))
	}
	e.out = append(append(e.out, s[e.done:from]...), with...)
	e.done = to
}

// text returns the text with all replacements; s itself if there was none.
func (e *edit) text(s []byte) []byte {
	if e.out == nil {
		return s
	}
	return append(e.out, s[e.done:]...)
}
