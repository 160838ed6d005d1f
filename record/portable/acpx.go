package portable

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// messages reads files whose lines are bare JSON-RPC messages. acpx keeps a session like this
// in ~/.acpx/sessions/ID.stream.ndjson, and prints it with --format json. Since acpx 0.19 the
// file also contains lines of its own:
//
//	{"schema":"acpx.session.journal.v1","type":"segment","record_id":"…","sequence":0,…}
//	{"jsonrpc":"2.0","id":0,"method":"initialize","params":{…}}
//	{"jsonrpc":"2.0","id":0,"result":{…}}
type messages struct {
	log
	pending [wire.Directions]map[string]int // each side's open requests: ids and order of arrival
	order   int
}

// maxPending limits the open requests that are remembered, and maxID the bytes of their ids.
const (
	maxPending = 10_000
	maxID      = 1 << 10
)

const acpxJournal = "acpx.session.journal."

func isMessages(head []byte) bool {
	g := wire.ValueOf(firstLine(head))
	return isMessage(g) || strings.HasPrefix(g.Get("schema").Text(), acpxJournal)
}

func readMessages(f *file) error {
	m := &messages{log: log{
		file: f, unit: "line",
		lacks: "From messages alone, as acpx keeps them: there are no times and no stderr, messages were encoded again, and who sent one is derived from its method or id",
	}}
	m.pending[wire.ClientToAgent], m.pending[wire.AgentToClient] = map[string]int{}, map[string]int{}
	return m.end(m.eachLine(m.read))
}

func (m *messages) read(l logLine) error {
	if l.size > len(l.text) || !json.Valid(l.text) {
		return m.lost(l.n, l.size)
	}
	g := wire.ValueOf(l.text)
	if schema := g.Get("schema").Text(); strings.HasPrefix(schema, acpxJournal) {
		if schema != acpxJournal+"v1" {
			m.unread.add(l.n)
		}
		return nil
	}
	if !isMessage(g) {
		return m.lost(l.n, l.size)
	}
	dir, ok := m.sender(g)
	if !ok {
		return m.lost(l.n, l.size)
	}
	return m.message(l.n, dir, l.text, time.Time{})
}

// sender returns who sent a message, if that can be determined.
func (m *messages) sender(g wire.Value) (dir wire.Direction, ok bool) {
	id := g.Get("id").Raw()
	if !g.Get("method").Exists() {
		return m.answers(id)
	}
	dir = wire.ClientToAgent
	switch d, _ := dialect.Lookup(dialect.AnyProtocol, g.Get("method").Text()); {
	case d.From == dialect.AgentSide:
		dir = wire.AgentToClient
	case d.From == dialect.ClientSide:
	case len(m.pending[wire.ClientToAgent]) > 0: // while a client waits, the agent is active
		dir = wire.AgentToClient
	}
	if id != "" && len(id) <= maxID && len(m.pending[dir]) < maxPending {
		m.order++
		m.pending[dir][id] = m.order
	}
	return dir, true
}

// answers returns who sent the response with an id. If both sides wait for a response with
// that id, the response belongs to the later request: the agent's requests during a prompt
// are answered before the prompt.
func (m *messages) answers(id string) (dir wire.Direction, ok bool) {
	ofClient, ofAgent := m.pending[wire.ClientToAgent][id], m.pending[wire.AgentToClient][id]
	switch {
	case ofClient > ofAgent:
		delete(m.pending[wire.ClientToAgent], id)
		return wire.AgentToClient, true
	case ofAgent > 0:
		delete(m.pending[wire.AgentToClient], id)
		return wire.ClientToAgent, true
	}
	return 0, false
}

// isAcpxIndex recognizes ID.json, the file next to the messages of a session.
func isAcpxIndex(head []byte) bool {
	return strings.HasPrefix(wire.ValueOf(head).Get("schema").Text(), "acpx.session.v")
}

func readAcpxIndex(f *file) error {
	return fmt.Errorf("%s: %w", f.name, errors.New("what acpx remembers of a session, without its messages; those are beside it, in ID.stream.ndjson"))
}
