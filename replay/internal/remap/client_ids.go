package remap

import (
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// ClientIDs maps the ids that the recorded client made to those of the live client:
// ids of requests, progress tokens, terminals and hosted servers. It keeps 4,096 ids
// and forgets the oldest.
type ClientIDs struct {
	known bounded.Map[idKey, []byte]
	moved map[dialect.Class]bool // classes with an id that differs from the recorded one
}

// An idKey is a recorded id, as JSON.
type idKey struct {
	class dialect.Class
	id    string
}

// maxIDs limits the ids that are kept. Request ids and progress tokens are needed only
// while the request is open.
const maxIDs = 4096

// Learn maps a recorded id to a live one, both as JSON. A nil live means that the live
// client gave no such id.
func (m *ClientIDs) Learn(class dialect.Class, recorded string, live []byte) {
	m.known.Limit = maxIDs
	m.known.Set(idKey{class, recorded}, live)
	if string(live) != recorded {
		if m.moved == nil {
			m.moved = make(map[dialect.Class]bool)
		}
		m.moved[class] = true
	}
}

// Live returns the live id for a recorded one. ok is false if Learn was not called
// with it.
func (m *ClientIDs) Live(class dialect.Class, recorded string) (live []byte, ok bool) {
	return m.known.Get(idKey{class, recorded})
}

// LearnFrom learns the ids that a client makes in a message of a method, from the
// recorded message and the live one.
func (m *ClientIDs) LearnFrom(method string, recorded, live []byte) {
	for _, place := range dialect.IDLocations(method) {
		if !place.New || place.MadeBy(wire.ClientToAgent) != wire.ClientToAgent {
			continue
		}
		then, now := found(recorded, place.Path), found(live, place.Path)
		for i, f := range then {
			switch {
			case i < len(now):
				m.Learn(place.Class, f.raw, []byte(now[i].raw))
			case place.Class == dialect.ProgressToken:
				m.Learn(place.Class, f.raw, nil)
			}
		}
	}
}

// AgentEdits returns the edits that replace the ids in a recorded message of the agent
// with the live client's.
func (m *ClientIDs) AgentEdits(method string, recorded []byte) []Edit {
	if len(m.moved) == 0 {
		return nil
	}
	var edits []Edit
	for _, place := range dialect.IDLocations(method) {
		if place.MadeBy(wire.AgentToClient) == wire.ClientToAgent && m.moved[place.Class] {
			edits = m.moves(edits, place, recorded)
		}
	}
	return edits
}

// ClientEdits returns the edits that prepare a recorded message of the client for
// comparison with a live one: they insert the known live ids, and the ids that the live
// message makes.
func (m *ClientIDs) ClientEdits(method string, recorded, live []byte) []Edit {
	var edits []Edit
	for _, place := range dialect.IDLocations(method) {
		switch {
		case place.MadeBy(wire.ClientToAgent) != wire.ClientToAgent:
		case !place.New:
			edits = m.moves(edits, place, recorded)
		default:
			now := found(live, place.Path)
			for i, f := range found(recorded, place.Path) {
				if i < len(now) {
					edits = append(edits, Edit{f.at, f.at + len(f.raw), []byte(now[i].raw)})
				}
			}
		}
	}
	return edits
}

// moves appends the edits that insert the live ids at one location.
func (m *ClientIDs) moves(edits []Edit, place dialect.IDLocation, recorded []byte) []Edit {
	for _, f := range found(recorded, place.Path) {
		if with, ok := m.Live(place.Class, f.raw); ok && with != nil && string(with) != f.raw {
			edits = append(edits, Edit{f.at, f.at + len(f.raw), with})
		}
	}
	return edits
}
