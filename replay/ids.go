package replay

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// ids maps the ids that the recorded client made to those that the client of now
// makes: of requests, progress tokens, terminals, hosted servers.
type ids struct {
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

// learn notes that what was recorded is now spelled live. A nil live says that
// the client has none.
func (m *ids) learn(class dialect.Class, recorded string, live []byte) {
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

// live returns what a recorded id is now. ok is false if nothing was learnt of
// it.
func (m *ids) live(class dialect.Class, recorded string) (live []byte, ok bool) {
	live, ok = m.known[idKey{class, recorded}]
	return live, ok
}

// learnFrom notes the ids that a client's message makes at the places of its
// method, from the recorded message and the one that took its place.
func (m *ids) learnFrom(method string, recorded, live []byte) {
	for _, place := range dialect.IDLocations(method) {
		if !place.Made || place.By(wire.ClientToAgent) != wire.ClientToAgent {
			continue
		}
		then, now := found(recorded, place.Path), found(live, place.Path)
		for i, f := range then {
			switch {
			case i < len(now):
				m.learn(place.Class, f.raw, []byte(now[i].raw))
			case place.Class == dialect.ProgressToken:
				m.learn(place.Class, f.raw, nil)
			}
		}
	}
}

// A spot is a value in a message and where it stands.
type spot struct {
	raw string
	at  int
}

// found returns the values at the path of a place.
func found(message []byte, path string) []spot {
	var spots []spot
	for _, s := range dialect.Find(message, path) {
		spots = append(spots, spot{string(message[s.Start:s.End]), s.Start})
	}
	return spots
}

// An edit puts other bytes in place of a part of a message.
type edit struct {
	from, to int
	with     []byte
}

// today returns the edits that give a recorded message of the agent the ids of
// now.
func (m *ids) today(method string, recorded []byte) []edit {
	if len(m.moved) == 0 {
		return nil
	}
	var edits []edit
	for _, place := range dialect.IDLocations(method) {
		if place.By(wire.AgentToClient) == wire.ClientToAgent && m.moved[place.Class] {
			edits = m.moves(edits, place, recorded)
		}
	}
	return edits
}

// likely returns the edits that give a recorded message of the client the ids
// that are known, and those that live, which it is compared with, makes.
func (m *ids) likely(method string, recorded, live []byte) []edit {
	var edits []edit
	for _, place := range dialect.IDLocations(method) {
		switch {
		case place.By(wire.ClientToAgent) != wire.ClientToAgent:
		case !place.Made:
			edits = m.moves(edits, place, recorded)
		default:
			now := found(live, place.Path)
			for i, f := range found(recorded, place.Path) {
				if i < len(now) {
					edits = append(edits, edit{f.at, f.at + len(f.raw), []byte(now[i].raw)})
				}
			}
		}
	}
	return edits
}

// moves appends the edits that give a message the ids of now at a place.
func (m *ids) moves(edits []edit, place dialect.IDLocation, recorded []byte) []edit {
	for _, f := range found(recorded, place.Path) {
		if with, ok := m.live(place.Class, f.raw); ok && with != nil && string(with) != f.raw {
			edits = append(edits, edit{f.at, f.at + len(f.raw), with})
		}
	}
	return edits
}

// apply returns a message with its edits, in a new slice if there are any.
func apply(message []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return message
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	done := 0
	for _, e := range edits {
		if e.from < done || e.to > len(message) {
			continue // two places found the same value
		}
		out = append(append(out, message[done:e.from]...), e.with...)
		done = e.to
	}
	return append(out, message[done:]...)
}

// idEdit returns the edit that gives a response another id.
func idEdit(message, id []byte) []edit {
	var edits []edit
	for _, f := range found(message, "id") {
		if f.raw != string(id) {
			edits = append(edits, edit{f.at, f.at + len(f.raw), id})
		}
	}
	return edits
}
