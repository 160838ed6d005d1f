package replay

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
)

// A learnt is what a value of the recording is now: ids that the agent made, and
// directories. It serves all connections of a Client's run.
type learnt struct {
	ids      map[madeID]string // JSON
	sessions map[string]string // session ids of now to recorded ones
	cwd      string            // of all sessions now
	roots    roots
}

// A madeID is a recorded id that the agent made, as JSON.
type madeID struct {
	class dialect.Class
	id    string
}

func newLearnt(cwd string) *learnt {
	return &learnt{ids: make(map[madeID]string), sessions: make(map[string]string), cwd: cwd}
}

// madeByAgent returns the ids in a response that the agent made. Those in a list
// of sessions are of sessions that were there before.
func madeByAgent(method string, response []byte) []dialect.Field {
	if method == "session/list" {
		return nil
	}
	var made []dialect.Field
	for _, f := range dialect.Everything(response) {
		switch f.Class {
		case dialect.SessionID, dialect.EditSessionID, dialect.EntityID, dialect.TaskID, dialect.ConnectionID, dialect.Opaque:
			made = append(made, f)
		}
		if strings.HasPrefix(f.Path, dataLayer("result")) {
			made = append(made, dialect.Field{Path: f.Path, Value: f.Value, Class: dialect.Opaque})
		}
	}
	return made
}

// dataLayer returns where a data-layer session stands below params or result.
func dataLayer(below string) string { return below + `._meta["io.modelcontextprotocol/session"]` }

// learn takes the ids of a recorded response and the response of now.
func (l *learnt) learn(c *plannedCall, response []byte) {
	now := make(map[string]string)
	for _, f := range madeByAgent(c.method, response) {
		now[f.Path] = f.Value
	}
	for _, f := range c.made {
		if value, ok := now[f.Path]; ok {
			l.know(f.Class, f.Value, value)
		}
	}
}

// know notes what an id is now. A later value replaces an earlier one: a session
// may be made again under its recorded id.
func (l *learnt) know(class dialect.Class, recorded, now string) {
	l.ids[madeID{class, recorded}] = now
	if class == dialect.SessionID {
		l.sessions[gjson.Parse(now).Str] = gjson.Parse(recorded).Str
	}
}

// session returns the id of a recorded session now, itself if it is not known.
func (l *learnt) session(recorded string) string {
	if now, ok := l.ids[madeID{dialect.SessionID, quoted(recorded)}]; ok {
		return gjson.Parse(now).Str
	}
	return recorded
}

// recorded returns the recorded id of a session of now.
func (l *learnt) recorded(session string) string {
	if recorded, ok := l.sessions[session]; ok {
		return recorded
	}
	return session
}

// rewrite returns a message of the client with the ids and paths of now.
// unmade is a session that it names and that was not made now.
func (l *learnt) rewrite(message []byte) (rewritten []byte, unmade string) {
	for _, f := range dialect.Everything(message) {
		class := f.Class
		if strings.HasPrefix(f.Path, dataLayer("params")) {
			class = dialect.Opaque
		}
		now, known := l.ids[madeID{class, f.Value}]
		switch {
		case known && now != f.Value:
			message = dialect.Set(message, []byte(now), keys(f.Path)...)
		case !known && class == dialect.SessionID:
			unmade = gjson.Parse(f.Value).Str
		}
	}
	return l.roots.rewrite(message), unmade
}

// moveIn notes that a session of the recorded directory works in that of now. A
// directory below one that is known moves with it.
func (l *learnt) moveIn(recorded string) {
	if _, known := l.roots.text(recorded, true); !known && recorded != l.cwd {
		l.roots.learn(recorded, l.cwd)
	}
}

// keys returns the keys and indexes that a dialect.Field's path is made of.
func keys(path string) []string {
	const session = "io.modelcontextprotocol/session"
	before, after, found := strings.Cut(path, `["`+session+`"]`)
	list := strings.FieldsFunc(before, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
	if !found {
		return list
	}
	return append(append(list, session), keys(after)...)
}

func quoted(s string) string { return string(gjson.AppendJSONString(nil, s)) }
