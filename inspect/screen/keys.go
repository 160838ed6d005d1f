package screen

import (
	"slices"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/record/termtext"
)

// A key is a keyboard key together with what it does.
type key struct {
	names []string // as keyName returns them; two letters are pressed in succession
	where part
	what  string            // what it does; asBefore: as the previous key says
	hint  func(*app) string // shown on the last line unless empty; nil: only in the list of keys
	do    func(*app)
}

// asBefore is the explanation of a key that shares the previous key's.
const asBefore = ""

// visits reports whether the key goes to a place.
func (k *key) visits() bool {
	return len(k.names[0]) == 1 && '1' <= k.names[0][0] && k.names[0][0] <= '8'
}

// A keyGroup is a group of keys on one subject.
type keyGroup struct {
	subject string
	keys    []key
}

// allKeys returns the keys of all groups.
func allKeys(groups []keyGroup) []key {
	var keys []key
	for _, g := range groups {
		keys = append(keys, g.keys...)
	}
	return keys
}

// A part is a part of the screen that receives keys.
type part uint16

const (
	inList part = 1 << iota // the list of frames
	inPane
	inStore
	inStart // the store, while no tape is open
	inEmpty // the store, while there are no tapes
	inChat
	inFound // results of a search through all tapes
	inTurns
	inText // any other place
	inDiff
	inFindings
	inHelp
	inDetails // details of a line of a page, next to it
	inRules   // of the proxy

	inFrames = inList | inPane
	inTapes  = inStore | inStart
	inLists  = inTapes | inFound // lists that a search narrows
	inTexts  = inChat | inTurns | inText | inDiff | inFindings | inHelp | inRules
	inPages  = inLists | inChat | inTurns | inText | inFindings // pages with text to copy
	anywhere = inFrames | inLists | inEmpty | inTexts | inDetails
)

// keyName returns the name of a key, such as j, ^D or Enter.
func keyName(e *tcell.EventKey) string {
	switch k := e.Key(); {
	case k == tcell.KeyRune && e.Rune() == ' ':
		return "Space"
	case k == tcell.KeyRune:
		return string(e.Rune())
	case k == tcell.KeyBackspace2:
		return "Backspace"
	case tcell.KeyCtrlA <= k && k <= tcell.KeyCtrlZ && k != tcell.KeyTab && k != tcell.KeyEnter && k != tcell.KeyBackspace:
		return "^" + string(rune('A'+k-tcell.KeyCtrlA))
	default:
		return tcell.KeyNames[k]
	}
}

// press performs a key's action in this part, if it has one.
func (a *app) press(name string) {
	typed := a.prefix + name
	a.prefix = ""
	where := a.part()
	for _, k := range a.keys {
		if k.where&where != 0 && slices.Contains(k.names, typed) {
			a.message, a.trouble = "", false
			a.opening = a.opening && k.visits()
			if a.holds != nil {
				a.holds.moveOn = false
			}
			k.do(a)
			return
		}
	}
	for _, k := range a.keys {
		for _, n := range k.names {
			if k.where&where != 0 && len(n) == 2 && n[:1] == typed && 'a' <= n[0] && n[0] <= 'z' {
				a.prefix = typed
				return
			}
		}
	}
}

// waitsForUser reports whether to show only the hints about held frames, because there are
// some.
func (a *app) waitsForUser(where part) bool { return where&inFrames != 0 && a.anyHeld() }

// aboutHolds reports whether the key has a hint while frames wait.
func (k *key) aboutHolds() bool {
	return slices.Contains([]string{"p", "P", "c", "r", "K", "?", "q"}, k.names[0])
}

// A hint says what a key does, on the last line of the screen.
type hint struct{ key, does string }

const hintGap = "   "

// width returns the columns that the hint and the gap after it take.
func (h hint) width() int { return len(h.key) + 1 + len(h.does) + len(hintGap) }

// says returns the hint for a key that always does the same.
func says(does string) func(*app) string { return func(*app) string { return does } }

// either returns the hint for a key that does one of two things.
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
		if k.hint == nil || k.where&where == 0 || a.waitsForUser(where) && !k.aboutHolds() {
			continue
		}
		if h := (hint{k.names[0], k.hint(a)}); h.does != "" {
			hints = append(hints, h)
			room -= h.width()
		}
	}
	for room < 0 && len(hints) > 2 { // the last two show the keys and how to leave
		drop := len(hints) - 3
		room += hints[drop].width()
		hints = slices.Delete(hints, drop, drop+1)
	}
	c.hints(hints)
}

// hints draws keys and what they do.
func (c canvas) hints(hints []hint) {
	var row []termtext.Span
	gap := ""
	for _, h := range hints {
		row = append(row, termtext.Bold.Span(gap+h.key), termtext.Dim.Span(" "+h.does))
		gap = hintGap
	}
	c.line(1, 0, row)
}
