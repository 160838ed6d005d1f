package filter

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Tracker turns the frames of a tape into Subjects, in order. The zero value is at the
// beginning of a tape with an unknown start. Memory is bounded: with very many requests,
// sessions or tool calls, earlier ones are forgotten.
type Tracker struct {
	start    time.Time // of the tape
	requests Requests[Tool]
	turns    map[string]*turns
	tools    map[toolKey]string // titles of tool calls
	open     *OpenRequests      // open requests up to ahead; nil without LookAhead
	ahead    uint64

	server   string                     // name of the server whose tape it is
	findings func(seq uint64) []Finding // of a frame on the tape; nil if the tape was not checked
}

// maxKept limits the number of sessions, and of titles.
const maxKept = 1 << 16

type toolKey struct{ session, id string }

// turns is the state of a session.
type turns struct {
	begun   int
	prompts []prompt // open prompts
}

type prompt struct {
	seq      uint64
	turn     int
	withheld bool // the agent did not get it; another may follow in its place
}

// Next begins another tape, on which sessions may continue. start is when the tape began,
// in the user's time zone; zero if unknown.
func (t *Tracker) Next(start time.Time) {
	for _, u := range t.turns {
		u.prompts = u.prompts[:0]
	}
	*t = Tracker{start: start, turns: t.turns, tools: t.tools}
}

// LookAhead reads the frames on the tape, with or without their bytes, before Observe does;
// ended says whether the tape has ended. Without it no Subject is Open or Unanswered. A
// request that is recorded later is open when it comes.
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

// KnowServer sets the agent's name for the server whose tape it is.
func (t *Tracker) KnowServer(name string) { t.server = name }

// KnowFindings sets the findings on the frames of the tape, by number.
func (t *Tracker) KnowFindings(of func(seq uint64) []Finding) { t.findings = of }

// Observe takes the next frame. The Subject refers to f.
func (t *Tracker) Observe(f *dialect.Frame) Subject {
	s := Subject{Frame: f, Start: t.start, Open: t.isOpen(f), Unanswered: t.IsUnanswered(f), Server: t.server}
	if t.findings != nil {
		s.Findings = t.findings(f.Seq)
	}
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

// turn returns the number of the turn that a frame belongs to. A prompt that is sent while
// others are open begins a turn of its own; until these end, frames belong to the first of
// them.
func (t *Tracker) turn(f *dialect.Frame) int {
	u := t.turns[f.Session]
	if f.Events.Has(dialect.TurnBegan) {
		if p := u.replaced(f); p != nil {
			p.withheld = false
			return p.turn
		}
		if u == nil {
			if t.turns == nil || len(t.turns) == maxKept {
				t.turns = make(map[string]*turns)
			}
			u = &turns{}
			t.turns[f.Session] = u
		}
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

// replaced returns the prompt that f was sent in place of, or nil.
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
		delete(t.tools, key)
		return tool
	}
	if tool.Title == "" {
		tool.Title = t.tools[key]
		return tool
	}
	if t.tools == nil || len(t.tools) == maxKept {
		t.tools = make(map[toolKey]string)
	}
	key.id = strings.Clone(key.id) // it and the title may share memory with a copy of the frame
	t.tools[key] = strings.Clone(tool.Title)
	return tool
}
