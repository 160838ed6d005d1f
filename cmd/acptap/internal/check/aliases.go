package check

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// aliases holds a session's IDs at the agent on one tape, if acptap gave the client
// another ID (acptap proxy --sessions). Frames that acptap sent in place of others reveal
// them.
type aliases struct {
	withheld dialect.Frame // the last one; without its bytes
	ids      []string
}

// maxAliases limits the remembered IDs: there is one for each time that the agent forgot
// the session.
const maxAliases = 64

// add handles the next frame of the tape.
func (a *aliases) add(f *dialect.Frame, session string) {
	if f.Kind == wire.Mark || f.Dir == wire.AgentStderr { // these may come between the two
		return
	}
	was := a.withheld
	a.withheld = dialect.Frame{}
	switch {
	case f.Origin == wire.Withheld:
		a.withheld.Origin, a.withheld.Dir = f.Origin, f.Dir
		a.withheld.Method, a.withheld.Session = f.Method, f.Session
	case f.Origin != wire.Rewritten || was.Origin != wire.Withheld || f.Dir != was.Dir || f.Method != was.Method || f.Session == was.Session:
	case f.Session == session:
		a.note(was.Session)
	case was.Session == session:
		a.note(f.Session)
	}
}

func (a *aliases) note(id string) {
	if id != "" && !a.has(id) && len(a.ids) < maxAliases {
		a.ids = append(a.ids, id)
	}
}

// has reports whether the agent uses an ID for the session.
func (a *aliases) has(id string) bool { return slices.Contains(a.ids, id) }
