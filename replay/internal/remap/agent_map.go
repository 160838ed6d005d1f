// Package remap maps a recording's ids and working directories to those of a replay. It
// rewrites messages, whole or in pieces, and leaves all other bytes unchanged.
//
// It knows nothing about tapes and connections. The caller tells it which message
// corresponds to which recorded one; it cannot map an id before it has seen both.
package remap

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// An AgentMap maps the ids that the recorded agent made, and directories, to those of a
// live agent.
type AgentMap struct {
	ids      map[idKey]string  // JSON
	sessions map[string]string // live session ids to recorded ones
	cwd      string            // of all live sessions
	Paths    PathMap
}

func NewAgentMap(cwd string) *AgentMap {
	return &AgentMap{ids: make(map[idKey]string), sessions: make(map[string]string), cwd: cwd}
}

// MadeByAgent returns the ids that the agent made in a response. A list of sessions makes
// none: the sessions existed before.
func MadeByAgent(method string, response []byte) []dialect.Field {
	if dialect.Does(method, dialect.Lists) {
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

// classIn returns the class of an id in a message of a method: what the message calls a
// session may be a session of next-edit suggestions.
func classIn(method string, class dialect.Class) dialect.Class {
	if class == dialect.SessionID && dialect.OfEditSession(method) {
		return dialect.EditSessionID
	}
	return class
}

// dataLayer reports whether a path below params or result belongs to a data-layer
// session, and returns the class of the value there.
func dataLayer(path, below string) (class dialect.Class, ok bool) {
	key, ok := strings.CutPrefix(path, below+`._meta["io.modelcontextprotocol/session"].`)
	if key == "sessionId" {
		return dialect.SessionID, ok
	}
	return dialect.Opaque, ok
}

// LearnFromResponse maps the ids that the recorded agent made in a response to those
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

// Set maps a recorded id to a live one. A later call replaces an earlier one: a session
// may be made again under its recorded id.
func (l *AgentMap) Set(class dialect.Class, recorded, now string) {
	l.ids[idKey{class, recorded}] = now
	if class == dialect.SessionID {
		l.sessions[wire.ValueOf(now).Text()] = wire.ValueOf(recorded).Text()
	}
}

// Session returns the live id of a recorded session, or recorded if it is not mapped.
func (l *AgentMap) Session(recorded string) string {
	if now, ok := l.ids[idKey{dialect.SessionID, string(wire.Quote(recorded))}]; ok {
		return wire.ValueOf(now).Text()
	}
	return recorded
}

// Recorded returns the recorded id of a live session, or session if it is not mapped.
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

// Rewrite returns a recorded message of the client with live ids and paths. unmade is a
// session that the message names and the live agent has not made; empty if there is none.
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
		now, known := l.ids[idKey{class, f.Value}]
		switch {
		case madeByEither[class]:
		case known && now != f.Value:
			message = wire.Set(message, []byte(now), keys(f.Path)...)
		case !known && class == dialect.SessionID:
			unmade = wire.ValueOf(f.Value).Text()
		}
	}
	var edits []Edit
	for _, place := range dialect.IDLocations(method) {
		if place.New || place.MadeBy(wire.ClientToAgent) != wire.AgentToClient {
			continue
		}
		for _, f := range found(message, place.Path) {
			if now, ok := l.ids[idKey{place.Class, f.raw}]; ok {
				edits = append(edits, Edit{f.at, f.at + len(f.raw), []byte(now)})
			}
		}
	}
	return Apply(message, edits), unmade
}

// madeByEither holds the classes of ids that either side may make: only the location of
// such an id tells which side made it.
var madeByEither = map[dialect.Class]bool{
	dialect.RequestID: true, dialect.ProgressToken: true, dialect.TaskID: true,
	dialect.TerminalID: true, dialect.ServerID: true, dialect.ConnectionID: true,
}

// MoveIn maps a session's recorded directory to the live one, unless a mapped directory
// contains it.
func (l *AgentMap) MoveIn(recorded string) {
	if _, known := l.Paths.Text(recorded, true); !known && recorded != l.cwd {
		l.Paths.Learn(recorded, l.cwd)
	}
}

// keys splits the path of a dialect.Field into its keys and indexes.
func keys(path string) []string {
	const session = "io.modelcontextprotocol/session"
	before, after, found := strings.Cut(path, `["`+session+`"]`)
	list := strings.FieldsFunc(before, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
	if !found {
		return list
	}
	return append(append(list, session), keys(after)...)
}
