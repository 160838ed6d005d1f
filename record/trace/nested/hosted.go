package nested

import (
	"strings"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// hosted tracks the servers that the client of an agent's tape hosts itself (type acp). Their
// traffic is on the agent's tape, in mcp/message (draft MCP over ACP). There the agent is the
// server's client, so directions are reversed. The zero value is empty.
type hosted struct {
	names bounded.Map[string, string]      // of the servers that setups declare, by id
	tapes bounded.Map[string, *Tape]       // by the id of the connection
	asked bounded.Map[hostedAsk, hostedBy] // unanswered requests
}

// A hostedAsk identifies a request by its frame and, in a batch, its id.
type hostedAsk struct {
	seq uint64
	id  string
}

// A hostedBy is the destination of a request: the id of the server that mcp/connect
// names, or the connection of an mcp/message.
type hostedBy struct {
	server string
	tape   *Tape
}

// maxHosted limits the servers, connections and requests remembered.
const maxHosted = 1 << 12

// host applies the next frame of the agent's tape to the servers that the client hosts.
func (j *Join) host(f *dialect.Frame) {
	if !f.AtClient() || f.Redelivered || f.Kind != wire.Batch && !isHosted(f.Method) {
		return
	}
	for m, e := range f.Messages {
		if isHosted(m.Method) {
			j.hosts(m, e)
		}
	}
}

// isHosted reports whether messages with this method, or their answers, may concern a server
// that the client hosts.
func isHosted(method string) bool {
	return dialect.RoleOf(dialect.ACP, method).Is(dialect.UsesHosted | dialect.CancelsRequest | dialect.Opens)
}

func (j *Join) hosts(f *dialect.Frame, e wire.Envelope) {
	h := &j.hosted
	h.names.Limit, h.tapes.Limit, h.asked.Limit = maxHosted, maxHosted, maxHosted
	switch role := dialect.RoleOf(dialect.ACP, string(e.Method)); {
	case e.Method == nil:
		j.hostAnswered(f, e)
	case role.Is(dialect.Opens) && f.Dir == wire.ClientToAgent:
		h.declared(e.Params.Get("mcpServers"))
	case role.Is(dialect.Connects) && e.ID != nil:
		h.asked.Set(hostedAsk{f.Seq, dialect.IDKey(e.ID)}, hostedBy{server: hostedID(e.Params.Value())})
	case role.Is(dialect.Disconnects):
		if t, _ := h.tapes.Get(e.Params.Get("connectionId").Text()); t != nil {
			t.End()
		}
	case role.Is(dialect.Carries):
		if t, _ := h.tapes.Get(e.Params.Get("connectionId").Text()); t != nil {
			if e.ID != nil {
				h.asked.Set(hostedAsk{f.Seq, dialect.IDKey(e.ID)}, hostedBy{tape: t})
			}
			t.carried(f, e)
		}
	case f.Events.Has(dialect.RequestCancelled):
		for _, t := range h.tapes.All() {
			t.cancelled(f.Request)
		}
	}
}

// declared records the names of the servers in a setup that the client hosts itself.
func (h *hosted) declared(servers wire.Value) {
	n := 0
	servers.ForEach(func(_, server wire.Value) bool {
		if id := hostedID(server); id != "" && server.Get("type").Text() == "acp" {
			h.names.Set(strings.Clone(id), strings.Clone(server.Get("name").Text()))
		}
		n++
		return n < maxServers
	})
}

// hostedID returns the id of a server in its declaration or in mcp/connect. The draft's prose
// and schema give it different names.
func hostedID(v wire.Value) string {
	for _, key := range []string{"serverId", "acpId", "id"} {
		if id := v.Get(key).Text(); id != "" {
			return id
		}
	}
	return ""
}

// hostAnswered handles an answer. The answer to mcp/connect begins a connection.
func (j *Join) hostAnswered(f *dialect.Frame, e wire.Envelope) {
	h, key := &j.hosted, hostedAsk{f.Request, dialect.IDKey(e.ID)}
	by, ok := h.asked.Get(key)
	if !ok {
		return
	}
	h.asked.Drop(key)
	if by.tape != nil {
		by.tape.carried(f, e)
		return
	}
	id := e.Result.Get("connectionId").Text()
	if id == "" {
		return
	}
	run := j.runs[len(j.runs)-1]
	name, ok := h.names.Get(by.server)
	if !ok {
		name = by.server
	}
	t := &Tape{ID: run.id, Parent: run.id, Server: name, Start: run.start, hosted: true}
	h.tapes.Set(strings.Clone(id), t)
	j.Nested(t)
}

// hostEnded ends the tapes of the servers that the client hosts.
func (j *Join) hostEnded() {
	for _, t := range j.hosted.tapes.All() {
		t.End()
	}
}

// carried handles a message wrapped in a frame of the agent's tape.
func (t *Tape) carried(f *dialect.Frame, e wire.Envelope) {
	if t.session == "" && t.owner == "" {
		t.owner = strings.Clone(f.Session)
	}
	inner := dialect.Frame{Frame: f.Frame, Annotation: dialect.Annotation{Request: f.Request}}
	inner.Dir = f.Dir.Opposite()
	if e.Method == nil {
		if e.Result.Get("isError").Bool() {
			inner.Events |= dialect.ToolFailed
		}
	} else {
		params := e.Params.Value()
		e.Method, e.Params = []byte(params.Get("method").Text()), []byte(params.Get("params").Raw())
		if dialect.RoleOf(dialect.MCP, string(e.Method)).Is(dialect.CancelsRequest) {
			inner.Request, inner.Events = t.openAs(e.Params.Get("requestId").Raw()), dialect.RequestCancelled
		}
	}
	t.heard = t.Start.Add(f.At)
	t.message(&inner, e)
}

// openAs returns the Seq of the open call with an id, or 0 if there is none.
func (t *Tape) openAs(id string) uint64 {
	for _, c := range t.open {
		if c.id == dialect.IDKey([]byte(id)) {
			return c.Request
		}
	}
	return 0
}
