package inspect

import (
	"slices"

	"github.com/gdamore/tcell/v2"
)

// A key is what the user can press, and what it does.
type key struct {
	names []string // as keyName returns; two letters are pressed one after the other
	where part
	what  string
	hint  func(*app) string // on the last line of the screen, while that is not empty; nil: only in the list of keys
	do    func(*app)
}

// A part is where on the screen the keys go.
type part uint8

const (
	inList part = 1 << iota // of frames
	inPane
	inStore
	inStart // the store, and no tape is open
	inEmpty // the same, and there are no tapes
	inChat
	inText // any other place
	inHelp

	inFrames = inList | inPane
	inTapes  = inStore | inStart
	anywhere = inFrames | inTapes | inEmpty | inChat | inText | inHelp
)

// keyName returns the name of a key, such as j, ^D or Enter.
func keyName(e *tcell.EventKey) string {
	switch k := e.Key(); {
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
