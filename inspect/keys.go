package inspect

import (
	"slices"

	"github.com/gdamore/tcell/v2"
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
	inHelp

	inFrames = inList | inPane
	inTapes  = inStore | inStart
	inLists  = inTapes | inFound // that words narrow
	inTexts  = inChat | inTurns | inText | inDiff | inHelp
	inPages  = inLists | inChat | inTurns | inText // that are copied from
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
