package dialect

import (
	"hash/crc32"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/wire"
)

// A joining knows which session ids are not sessions of their own: those of subagents, and
// a second id under which some agents send each update again. Frames with such an id
// belong to the session that the client opened.
type joining struct {
	ids  bounded.Map[string, joined]
	own  bounded.Map[string, bool] // the other ids; true: the client opened or prompted the session
	last said                      // the last update of one of those
}

// A joined is what an id is joined to.
type joined struct {
	Session string `json:"session"`
	Echo    bool   `json:"echo,omitempty"` // a second id of the session; otherwise a subagent's
}

// A said identifies an update.
type said struct {
	Session string `json:"session"`
	Size    int    `json:"size"`
	Sum     uint32 `json:"sum"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// whose returns the session that frames with an id belong to.
func (j *joining) whose(id string) string {
	if to, ok := j.ids.Get(id); ok {
		return to.Session
	}
	return id
}

// open notes that the client opened or prompted a session: it is one of its own.
func (j *joining) open(id string) {
	if id != "" {
		j.ids.Drop(id)
		j.own.Set(id, true)
	}
}

// join joins the id of a subagent to a session.
func (j *joining) join(id, session string) {
	if opened, _ := j.own.Get(id); !opened && id != "" && id != session {
		j.own.Drop(id)
		j.ids.Set(id, joined{Session: session})
	}
}

// echoes takes an update of the agent, and reports whether it repeats the one before it
// under a second id. An id is only taken for a second one if its first update does so, and
// the client is not about to learn the id of a new session.
func (t *Tracker) echoes(id string, update []byte) bool {
	j := &t.joining
	now := said{id, len(update), crc32.Checksum(update, castagnoli)}
	before := now
	before.Session = j.last.Session
	if to, known := j.ids.Get(id); known {
		return to.Echo && to.Session == before.Session && before == j.last
	}
	if _, own := j.own.Get(id); !own {
		if opened, _ := j.own.Get(before.Session); opened && before == j.last && !t.opening() {
			j.ids.Set(id, joined{before.Session, true})
			return true
		}
		j.own.Set(id, false)
	}
	j.last = now
	return false
}

// subagentPaths are where updates have the session id of the subagent that they are about.
var subagentPaths = map[string]string{
	"subagent_update":       "sessionId",
	"subagent_spawned":      "subagentSessionId",
	"subagent_state_update": "subagentSessionId",
}

// Subagent returns the session id of the subagent that an update is about, or "".
func Subagent(variant string, update wire.JSON) string {
	path := subagentPaths[variant]
	if path == "" {
		return ""
	}
	return update.Get(path).Text()
}

// Foreign returns the session id in the params of a message if that is not the id of the
// session that the message belongs to: it is then a subagent's, or a second id of the
// session.
func (a *Annotation) Foreign(params wire.JSON) (id string, ok bool) {
	if a.Session == "" {
		return "", false
	}
	v := params.Get("sessionId")
	return v.Text(), v.Exists() && v.Text() != a.Session
}
