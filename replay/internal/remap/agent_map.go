// Package remap maps the values of a recording to those of a replay: the ids that
// either side makes, and working directories. It rewrites messages, whole ones or
// in pieces, and leaves all other bytes as they are.
//
// It knows nothing of tapes and connections. The caller tells it which message
// stands for which recorded one; it cannot map an id before it has seen both.
package remap

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// An AgentMap maps the ids that the recorded agent made, and directories, to those
// of a live agent.
type AgentMap struct {
	ids      map[madeID]string // JSON
	sessions map[string]string // session ids of now to recorded ones
	cwd      string            // of all sessions now
	Paths    PathMap
}

// A madeID is a recorded id that the agent made, as JSON.
type madeID struct {
	class dialect.Class
	id    string
}

func NewAgentMap(cwd string) *AgentMap {
	return &AgentMap{ids: make(map[madeID]string), sessions: make(map[string]string), cwd: cwd}
}

// MadeByAgent returns the ids in a response that the agent made. Those in a list
// of sessions are of sessions that were there before.
func MadeByAgent(method string, response []byte) []dialect.Field {
	if method == "session/list" {
		return nil
	}
	var made []dialect.Field
	for _, f := range dialect.AllMatchFields(response) {
		switch f.Class {
		case dialect.SessionID, dialect.EntityID, dialect.TaskID, dialect.ConnectionID, dialect.Opaque:
			f.Class = classIn(method, f.Class)
			made = append(made, f)
		}
		if class, ok := dataLayer(f.Path, "result"); ok {
			made = append(made, dialect.Field{Path: f.Path, Value: f.Value, Class: class})
		}
	}
	return made
}

// classIn returns the class of a value in a message of a method: what is called a
// session may be one of next-edit suggestions.
func classIn(method string, class dialect.Class) dialect.Class {
	if class == dialect.SessionID && dialect.OfEditSession(method) {
		return dialect.EditSessionID
	}
	return class
}

// dataLayer reports whether a path is of a data-layer session, below params or
// result, and of what class the value is.
func dataLayer(path, below string) (class dialect.Class, ok bool) {
	key, ok := strings.CutPrefix(path, below+`._meta["io.modelcontextprotocol/session"].`)
	if key == "sessionId" {
		return dialect.SessionID, ok
	}
	return dialect.Opaque, ok
}

// LearnFromResponse maps the ids that a recorded response to a method made to those
// in the live response.
func (l *AgentMap) LearnFromResponse(method string, made []dialect.Field, response []byte) {
	now := make(map[string]string)
	for _, f := range MadeByAgent(method, response) {
		now[f.Path] = f.Value
	}
	for _, f := range made {
		if value, ok := now[f.Path]; ok {
			l.Set(f.Class, f.Value, value)
		}
	}
}

// Set notes what an id is now. A later value replaces an earlier one: a session
// may be made again under its recorded id.
func (l *AgentMap) Set(class dialect.Class, recorded, now string) {
	l.ids[madeID{class, recorded}] = now
	if class == dialect.SessionID {
		l.sessions[gjson.Parse(now).Str] = gjson.Parse(recorded).Str
	}
}

// Session returns the id of a recorded session now, itself if it is not known.
func (l *AgentMap) Session(recorded string) string {
	if now, ok := l.ids[madeID{dialect.SessionID, string(gjson.AppendJSONString(nil, recorded))}]; ok {
		return gjson.Parse(now).Str
	}
	return recorded
}

// Recorded returns the recorded id of a session of now.
func (l *AgentMap) Recorded(session string) string {
	if recorded, ok := l.sessions[session]; ok {
		return recorded
	}
	return session
}

// LearnFromRequest maps the ids in the params of a recorded request of the agent to
// those in the params of a live one.
func (l *AgentMap) LearnFromRequest(method string, recorded, now []byte) {
	for _, place := range dialect.IDLocations(method) {
		path, ok := strings.CutPrefix(place.Path, "params.")
		if !ok || !place.New {
			continue
		}
		was, is := found(recorded, path), found(now, path)
		for i := range min(len(was), len(is)) {
			l.Set(place.Class, was[i].raw, is[i].raw)
		}
	}
}

// Rewrite returns a recorded message of the client with the live agent's ids and
// with today's paths. unmade is a session that the message names and that the live
// agent has not made.
func (l *AgentMap) Rewrite(method string, message []byte) (rewritten []byte, unmade string) {
	message, unmade = l.WithIDs(method, message)
	return l.Paths.Rewrite(message), unmade
}

// WithIDs is Rewrite without the paths.
func (l *AgentMap) WithIDs(method string, message []byte) (rewritten []byte, unmade string) {
	for _, f := range dialect.AllMatchFields(message) {
		class, ok := dataLayer(f.Path, "params")
		if !ok {
			class = classIn(method, f.Class)
		}
		now, known := l.ids[madeID{class, f.Value}]
		switch {
		case madeByEither[class]:
		case known && now != f.Value:
			message = wire.Set(message, []byte(now), keys(f.Path)...)
		case !known && class == dialect.SessionID:
			unmade = gjson.Parse(f.Value).Str
		}
	}
	var edits []Edit
	for _, place := range dialect.IDLocations(method) {
		if place.New || place.MadeBy(wire.ClientToAgent) != wire.AgentToClient {
			continue
		}
		for _, f := range found(message, place.Path) {
			if now, ok := l.ids[madeID{place.Class, f.raw}]; ok {
				edits = append(edits, Edit{f.at, f.at + len(f.raw), []byte(now)})
			}
		}
	}
	return Apply(message, edits), unmade
}

// madeByEither are the ids of which only their place tells who made them.
var madeByEither = map[dialect.Class]bool{
	dialect.RequestID: true, dialect.ProgressToken: true, dialect.TaskID: true,
	dialect.TerminalID: true, dialect.ServerID: true, dialect.ConnectionID: true,
}

// MoveIn notes that a session of the recorded directory works in that of now. A
// directory below one that is known moves with it.
func (l *AgentMap) MoveIn(recorded string) {
	if _, known := l.Paths.Text(recorded, true); !known && recorded != l.cwd {
		l.Paths.Learn(recorded, l.cwd)
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
