package remap

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// ClientIDs maps the ids that the recorded client made to those of the client that
// the tape is played to: ids of requests, progress tokens, terminals and hosted
// servers. The oldest of more than 4,096 are forgotten.
type ClientIDs struct {
	known map[idKey][]byte
	order []idKey                // the oldest first
	moved map[dialect.Class]bool // an id of the class is another now
}

// An idKey is a recorded id, as JSON.
type idKey struct {
	class dialect.Class
	id    string
}

// maxIDs is how many ids are kept. Those of requests and tokens are of use while
// the request is open.
const maxIDs = 4096

// Learn notes that what was recorded is now spelled live. A nil live says that
// the client has none.
func (m *ClientIDs) Learn(class dialect.Class, recorded string, live []byte) {
	if m.known == nil {
		m.known, m.moved = make(map[idKey][]byte), make(map[dialect.Class]bool)
	}
	key := idKey{class, recorded}
	if _, ok := m.known[key]; !ok {
		if len(m.order) == maxIDs {
			delete(m.known, m.order[0])
			m.order = m.order[1:]
		}
		m.order = append(m.order, key)
	}
	m.known[key] = live
	if string(live) != recorded {
		m.moved[class] = true
	}
}

// Live returns what a recorded id is now. ok is false if nothing was learnt of
// it.
func (m *ClientIDs) Live(class dialect.Class, recorded string) (live []byte, ok bool) {
	live, ok = m.known[idKey{class, recorded}]
	return live, ok
}

// LearnFrom notes the ids that a client's message makes at the places of its
// method, from the recorded message and the one that took its place.
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

// AgentEdits returns the edits that give a recorded message of the agent the live
// client's ids.
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

// ClientEdits returns the edits that give a recorded message of the client the ids
// that are known, and those that the live message makes with which it is compared.
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

// moves appends the edits that give a message the ids of now at a place.
func (m *ClientIDs) moves(edits []Edit, place dialect.IDLocation, recorded []byte) []Edit {
	for _, f := range found(recorded, place.Path) {
		if with, ok := m.Live(place.Class, f.raw); ok && with != nil && string(with) != f.raw {
			edits = append(edits, Edit{f.at, f.at + len(f.raw), with})
		}
	}
	return edits
}
