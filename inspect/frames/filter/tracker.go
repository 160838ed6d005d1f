package filter

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Tracker turns a tape's frames into Subjects, in order. The zero value is at the
// beginning of a tape with an unknown start. Memory is bounded: with very many requests,
// sessions or tool calls, the oldest are forgotten.
type Tracker struct {
	start    time.Time // of the tape
	requests Requests[Tool]
	turns    bounded.Map[string, *turns]
	tools    bounded.Map[toolKey, string] // titles of tool calls
	open     *OpenRequests                // open requests up to ahead; nil without LookAhead
	ahead    uint64
	marks    [wire.Directions][]marked // by direction, the rules whose marks say that they changed the next frames

	Server   string                              // the agent's name for the server that the tape belongs to
	Findings func(seq uint64) []*conform.Finding // findings about a frame of the tape; nil if the tape was not checked
}

// maxKept limits the number of sessions, and of titles.
const maxKept = 1 << 16

type toolKey struct{ session, id string }

// turns holds the state of a session.
type turns struct {
	begun   int
	prompts []prompt // open prompts
}

type prompt struct {
	seq      uint64
	turn     int
	withheld bool // the agent did not get it; another may be sent in its place
}

// Next starts another tape, on which sessions may continue. start is when the tape began,
// in the user's time zone; zero if unknown. Server and Findings must be set again.
func (t *Tracker) Next(start time.Time) {
	for _, u := range t.turns.All() {
		u.prompts = u.prompts[:0]
	}
	*t = Tracker{start: start, turns: t.turns, tools: t.tools}
}

// LookAhead reads the tape's frames, with or without their bytes, before Observe does;
// ended says whether the tape has ended. Without it no Subject is Open or Unanswered, or
// has an Answer. A request recorded later is open when it arrives.
func (t *Tracker) LookAhead(frames iter.Seq2[dialect.Frame, error], ended bool) {
	t.open = &OpenRequests{}
	for f, err := range frames {
		if err != nil {
			continue // the second reading reports it
		}
		t.ahead = f.Seq
		t.open.Observe(&f)
	}
	if ended {
		t.open.EndBefore(t.ahead + 1)
	}
}

// Observe processes the next frame. The Subject refers to f.
func (t *Tracker) Observe(f *dialect.Frame) Subject {
	s := Subject{Frame: f, Start: t.start, Open: t.isOpen(f), Unanswered: t.IsUnanswered(f), Server: t.Server}
	if t.open != nil {
		s.Answer = t.open.Answer(f.Seq)
	}
	if t.Findings != nil {
		s.Findings = t.Findings(f.Seq)
	}
	s.Marks = t.marksOf(f)
	s.Turn = t.turn(f)
	s.Tool = t.tool(f)
	t.requests.Observe(f, s.Tool, func(q *Request[Tool], _ *dialect.Annotation) {
		s.Tool = q.Note
		if latency, ok := q.Latency(f); ok {
			s.Latency = latency
		}
	})
	return s
}

// A marked is a rule that changed frames, with the number of them still to come.
type marked struct {
	rule string
	left int
}

// maxMarked limits the marks before one frame.
const maxMarked = 256

// marksOf returns the names of the rules that changed a frame, or the rule of a mark.
func (t *Tracker) marksOf(f *dialect.Frame) (names []string) {
	list := &t.marks[min(f.Dir, wire.AgentStderr)]
	if f.Kind == wire.Mark {
		if !bytes.Contains(f.Raw, []byte(`"rule"`)) {
			return nil // most marks are not of rules
		}
		r := wire.ReadMark(f.Frame).Rule
		if r == nil {
			return nil
		}
		if r.Frames > 0 && len(*list) < maxMarked {
			*list = append(*list, marked{r.Name, r.Frames})
		}
		return []string{r.Name}
	}
	if len(*list) == 0 {
		return nil
	}
	for i := range *list {
		names = append(names, (*list)[i].rule)
		(*list)[i].left--
	}
	*list = slices.DeleteFunc(*list, func(m marked) bool { return m.left == 0 })
	return names
}

// IsUnanswered reports whether a frame is a request that will never get a response, as far
// as LookAhead has read.
func (t *Tracker) IsUnanswered(f *dialect.Frame) bool {
	return t.open != nil && t.open.IsUnanswered(f)
}

// isOpen reports whether a frame is a request without a response, as far as LookAhead has
// read. A later request has none yet.
func (t *Tracker) isOpen(f *dialect.Frame) bool {
	switch {
	case t.open == nil:
		return false
	case f.Seq > t.ahead:
		return f.Asks()
	}
	return t.open.Has(f.Seq)
}

// turn returns the number of the turn that a frame belongs to. A prompt sent while others
// are open begins its own turn; until those end, frames belong to the first of them.
func (t *Tracker) turn(f *dialect.Frame) int {
	u, _ := t.turns.Get(f.Session)
	if f.Events.Has(dialect.TurnBegan) {
		if p := u.replaced(f); p != nil {
			p.withheld = false
			return p.turn
		}
		if u == nil {
			u = &turns{}
		}
		t.turns.Limit = maxKept
		t.turns.Set(f.Session, u)
		u.begun++
		u.prompts = append(u.prompts, prompt{f.Seq, u.begun, f.Origin == wire.Withheld})
		return u.begun
	}
	if u == nil || f.Session == "" || len(u.prompts) == 0 {
		return 0
	}
	i := max(slices.IndexFunc(u.prompts, func(p prompt) bool { return p.seq == f.Request }), 0)
	n := u.prompts[i].turn
	if f.Events.Has(dialect.TurnEnded) {
		if f.Request != 0 {
			u.prompts = slices.Delete(u.prompts, i, i+1)
		} else {
			u.prompts = u.prompts[:0] // one idle ends all
		}
	}
	return n
}

// replaced returns the prompt that f was sent to replace, or nil.
func (u *turns) replaced(f *dialect.Frame) *prompt {
	if u == nil || f.Origin != wire.Rewritten {
		return nil
	}
	i := slices.IndexFunc(u.prompts, func(p prompt) bool { return p.withheld })
	if i < 0 {
		return nil
	}
	return &u.prompts[i]
}

// tool returns the tool call that a frame is about, with its latest title. An announced
// call keeps its own title, since an earlier call may have had its id.
func (t *Tracker) tool(f *dialect.Frame) Tool {
	tool := ToolOf(f)
	if tool.ID == "" {
		return tool
	}
	key := toolKey{f.Session, tool.ID}
	if tool.Title == "" && f.Update == "tool_call" {
		t.tools.Drop(key)
		return tool
	}
	if tool.Title == "" {
		tool.Title, _ = t.tools.Get(key)
		return tool
	}
	t.tools.Limit = maxKept
	key.id = strings.Clone(key.id) // it and the title may share memory with a copy of the frame
	t.tools.Set(key, strings.Clone(tool.Title))
	return tool
}
