package inspect

import (
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// A hint says what a key does, on the last line of the screen.
type hint struct{ key, does string }

const hintGap = "   "

// width returns how many columns the hint takes, with those behind it.
func (h hint) width() int { return len(h.key) + 1 + len(h.does) + len(hintGap) }

// says is the hint of a key that always does the same.
func says(does string) func(*app) string { return func(*app) string { return does } }

// either is the hint of a key that does one thing now, or else another.
func either(does, otherwise string, now func(*app) bool) func(*app) string {
	return func(a *app) string {
		if now(a) {
			return does
		}
		return otherwise
	}
}

// drawHints draws the keys that a newcomer needs.
func (a *app) drawHints(c canvas) {
	if c.h == 0 {
		return
	}
	if a.prompt != nil {
		a.prompt.propose(c)
		return
	}
	where := a.part()
	var hints []hint
	room := c.w - 1 + len(hintGap)
	for _, k := range a.keys {
		if k.hint == nil || k.where&where == 0 {
			continue
		}
		if h := (hint{k.names[0], k.hint(a)}); h.does != "" {
			hints = append(hints, h)
			room -= h.width()
		}
	}
	for room < 0 && len(hints) > 2 { // the last two are the keys, and how to leave
		drop := len(hints) - 3
		room += hints[drop].width()
		hints = slices.Delete(hints, drop, drop+1)
	}
	c.hints(hints)
}

// hints draws keys with what they do.
func (c canvas) hints(hints []hint) {
	var row []termtext.Span
	gap := ""
	for _, h := range hints {
		row = append(row, termtext.Bold.Span(gap+h.key), termtext.Dim.Span(" "+h.does))
		gap = hintGap
	}
	c.line(1, 0, row)
}
