package frameindex

import (
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace/nested"
)

// reader returns a reader of the timeline's tapes and of the tapes of the agent's servers,
// which are in store; if all is true, also of the servers that these started. If it cannot
// list all servers, it returns an error and a reader of those it found.
func (t *Timeline) reader(store *record.Store, all bool) (*reading.Reader, error) {
	var agents []reading.Part
	for _, p := range t.agents {
		p.Store = store
		agents = append(agents, p.Part)
	}
	r := reading.New(agents)
	r.Follow = true
	return r, r.AddServers(all)
}

// know records which servers r has found, and the sessions that they were started for.
func (t *Timeline) know(r *reading.Reader) {
	if t.order == nil {
		return
	}
	for _, p := range r.Parts[t.Size():] {
		t.order.add(Part{Part: *p})
	}
	for _, p := range r.Servers() {
		t.order.link(p.Index, p.Session)
	}
}

// put gives a frame that r has read its number and time on the timeline.
func (t *Timeline) put(r *reading.Reader, e *reading.Event) {
	part := e.Part.Index
	if t.order == nil {
		t.agents[part].shift(&e.Frame)
		return
	}
	if !e.Part.IsServer() && nested.Concern(&e.Frame) {
		t.know(r)
	}
	t.renumber(part, t.order.put(part, e.Frame.Seq), &e.Frame)
}
