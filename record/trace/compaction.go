package trace

import (
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A Compaction is one occasion on which the agent condensed its memory of the session.
type Compaction struct {
	ID      string          `json:"compactionId"`
	Status  string          `json:"status,omitzero"` // in_progress, completed, failed, cancelled
	Summary Blocks          `json:"summary,omitzero"`
	Error   json.RawMessage `json:"error,omitempty"` // nil if there is none
	Meta    json.RawMessage `json:"_meta,omitempty"`
}

func (c *Conversation) compaction(f *frame, u wire.Value) {
	p := c.compactionByID(f, u)
	f.setString(&p.Status, u.Get("status"))
	f.setRaw(&p.Error, u.Get("error"))
	f.setRaw(&p.Meta, u.Get("_meta"))
	f.setBlocks(&p.Summary, u.Get("summary"))
}

func (c *Conversation) compactionSummary(f *frame, u wire.Value) {
	c.compactionByID(f, u).Summary.add(f, u.Get("content"))
}

func (c *Conversation) compactionByID(f *frame, u wire.Value) *Compaction {
	id := u.Get("compactionId").Text()
	e := c.find(f, "compaction", id)
	if e == nil {
		c.growing = nil
		id = strings.Clone(id)
		e = c.addAs(f, "compaction", id, &Entity{Compaction: &Compaction{ID: id}})
	}
	return e.Compaction
}

// A Notice is a message from the agent's program to the user. It is shown once and is not
// part of the history that a load repeats.
type Notice struct {
	Severity    string `json:"severity,omitzero"` // info, warning, error
	Title       string `json:"title"`
	Description string `json:"description,omitzero"`
}

func newNotice(f *frame, u wire.Value) *Notice {
	n := new(Notice)
	f.setString(&n.Severity, u.Get("severity"))
	f.setString(&n.Title, u.Get("title"))
	f.setString(&n.Description, u.Get("description"))
	return n
}
