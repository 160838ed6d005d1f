package tracepage

import (
	"slices"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// IsShown returns a function that reports whether a frame belongs to the session that
// NewConversation shows for id, or to none.
func (r *Reader) IsShown(id string) func(f *dialect.Frame) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.session(id); s != nil {
		id = s.ID
	}
	return func(f *dialect.Frame) bool { return f.Session == "" || f.Session == id }
}

// ChatLine returns the frame by which the conversation has a line about f: that of f's
// tool call or message, or of the end of its turn; otherwise f itself. f must have its
// bytes.
func (r *Reader) ChatLine(id string, f *dialect.Frame) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.session(id)
	if s == nil {
		return f.Seq
	}
	for _, t := range s.Conversation.Turns {
		if t.End == f.Seq || t.Prompt == f.Seq && t.Open() {
			return max(t.End, t.Last)
		}
	}
	return entityOf(&s.Conversation, f)
}

// TurnLine is like ChatLine, but for the page of turns, where calls have separate lines.
func (r *Reader) TurnLine(id string, f *dialect.Frame) uint64 {
	if f.Request != 0 {
		return f.Request
	}
	if f.Kind == wire.Request {
		return f.Seq
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.session(id); s != nil {
		return entityOf(&s.Conversation, f)
	}
	return f.Seq
}

// entityOf returns the first frame of the entity that a frame concerns, or the frame
// itself.
func entityOf(c *trace.Conversation, f *dialect.Frame) uint64 {
	tool := filter.ToolOf(f).ID
	for _, e := range slices.Backward(c.Entities) {
		if e.First > f.Seq || e.Replayed {
			continue
		}
		answers := func(p *trace.Permission) bool { return p.Response == f.Seq }
		switch {
		case e.ToolCall != nil && tool != "" && e.ToolCall.ID == tool,
			e.ToolCall != nil && slices.ContainsFunc(e.ToolCall.Permissions, answers),
			e.Permission != nil && answers(e.Permission),
			tool == "" && f.Kind == wire.Notification && e.ToolCall == nil && e.Last >= f.Seq:
			return e.First
		}
	}
	return f.Seq
}
