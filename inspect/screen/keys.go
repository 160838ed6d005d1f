package screen

import (
	"slices"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/record/termtext"
)

// A key is what the user can press, and what it does.
type key struct {
	names []string // as keyName returns; two letters are pressed one after the other
	where part
	what  string            // asBefore: the key before it says so
	hint  func(*app) string // on the last line of the screen, while that is not empty; nil: only in the list of keys
	do    func(*app)
}

// asBefore stands in place of what a key does that is explained together with the key
// before it.
const asBefore = ""

// A keyGroup is the keys of one subject.
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

// A part is where on the screen the keys go.
type part uint16

const (
	inList part = 1 << iota // of frames
	inPane
	inStore
	inStart // the store, and no tape is open
	inEmpty // the same, and there are no tapes
	inChat
	inFound // by a search of all tapes
	inTurns
	inText // any other place
	inDiff
	inFindings
	inHelp

	inFrames = inList | inPane
	inTapes  = inStore | inStart
	inLists  = inTapes | inFound // that words narrow
	inTexts  = inChat | inTurns | inText | inDiff | inFindings | inHelp
	inPages  = inLists | inChat | inTurns | inText | inFindings // that are copied from
	anywhere = inFrames | inLists | inEmpty | inTexts
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

// press does what the key does here, if it does anything.
func (a *app) press(name string) {
	typed := a.prefix + name
	a.prefix = ""
	where := a.part()
	for _, k := range a.keys {
		if k.where&where != 0 && slices.Contains(k.names, typed) {
			a.message, a.trouble = "", false
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
