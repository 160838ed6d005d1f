package trace

import (
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A Plan is what the agent intends to do. The plan of version 1 has no id and
// replaces the previous one; each turn keeps its last plan.
type Plan struct {
	ID      string          `json:"planId,omitzero"` // empty: the plan of version 1
	Type    string          `json:"type,omitzero"`   // items, markdown, file, or a type of later versions
	Raw     json.RawMessage `json:"plan,omitempty"`  // the plan as in plan_update; of version 1's plan: {"type":"items","entries":[…]}
	Removed bool            `json:"removed,omitzero"`
}

// A PlanEntry is one step of a plan.
type PlanEntry struct {
	Content  string
	Priority string // high, medium, low
	Status   string // pending, in_progress, completed; cancelled in version 2
}

// Entries returns the steps of a plan of type items.
func (p *Plan) Entries() []PlanEntry {
	var entries []PlanEntry
	for e := range elements(wire.JSON(p.Raw).Get("entries")) {
		entries = append(entries, PlanEntry{e.Get("content").Text(), e.Get("priority").Text(), e.Get("status").Text()})
	}
	return entries
}

// plan applies the plan of version 1. Later chunks continue the preceding message.
func (c *Conversation) plan(f *frame, u wire.Value) {
	e := c.findUnless(f, "plan", "", c.isEarlier)
	if e == nil {
		e = c.addAs(f, "plan", "", &Entity{Plan: &Plan{Type: "items"}})
	}
	if entries := u.Get("entries"); entries.IsArray() && !f.trace.Brief {
		raw := []byte(`{"type":"items","entries":`)
		e.Plan.Raw = append(append(raw, f.keep(entries)...), '}')
	}
}

// planUpdate replaces the plan with the id.
func (c *Conversation) planUpdate(f *frame, plan wire.Value) {
	id := planID(plan)
	e := c.find(f, "plan", id)
	if e == nil {
		id = strings.Clone(id)
		e = c.addAs(f, "plan", id, &Entity{Plan: &Plan{ID: id}})
	}
	p := e.Plan
	p.Removed = false
	f.setRaw(&p.Raw, plan)
	f.setString(&p.Type, plan.Get("type"))
}

func (c *Conversation) planRemoved(f *frame, u wire.Value) {
	if e := c.find(f, "plan", planID(u)); e != nil {
		e.Plan.Removed = true
	}
}

// planID reads planId, or id as in the early draft of version 2.
func planID(v wire.Value) string {
	if id := v.Get("planId"); id.Exists() {
		return id.Text()
	}
	return v.Get("id").Text()
}
