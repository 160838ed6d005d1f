package spans

import (
	"cmp"
	"time"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// toolCall handles an event of a tool call. It ignores a call that continues after its turn,
// because the turn's spans are already complete.
func (b *Builder) toolCall(e *trace.Event, s *session) {
	at := placeOf(e)
	switch {
	case e.Phase == trace.Began:
		b.tools[at] = true
	case e.Phase == trace.Ended && b.tools[at]:
		span := b.tool(e, s)
		t := s.open[e.InTurn]
		if t == nil {
			delete(b.tools, at)
			b.finish(span, e, s, nil, false)
			return
		}
		t.add(child{Span: span, last: e.Seq, at: at, entity: e.ToolCall})
	}
}

// subagent handles the end of a subagent's work.
func (b *Builder) subagent(e *trace.Event, s *session) {
	sub := e.ToolCall.Subagent
	name := clip(cmp.Or(sub.Title, sub.ID), maxName)
	span := b.begin(Subagent, e, nameOf("invoke_agent", name))
	span.text(operation, "invoke_agent")
	span.text(agentName, name)
	span.text(conversation, sub.ID)
	b.fail(&span, e)
	if b.Content {
		span.explain(wire.JSON(sub.Error))
	}
	if t := s.open[e.InTurn]; t != nil {
		t.add(child{Span: span, last: e.Seq, entity: e.ToolCall})
		return
	}
	b.finish(span, e, s, nil, false)
}

// add adds a tool call or a subagent, or replaces it if it has ended before.
func (t *turn) add(c child) {
	if i, ok := t.at[c.entity]; ok {
		t.children[i] = c
		return
	}
	if t.at == nil {
		t.at = map[*trace.Entity]int{}
	}
	t.at[c.entity] = len(t.children)
	t.children = append(t.children, c)
}

// tool makes the span of a tool call.
func (b *Builder) tool(e *trace.Event, s *session) Span {
	c := e.ToolCall.ToolCall
	span := b.begin(ToolCall, e, nameOf("execute_tool", cmp.Or(c.Name, c.Kind)))
	span.text(operation, "execute_tool")
	span.text(toolName, c.Name)
	span.text(toolCallID, c.ID)
	span.text(agentName, b.agent())
	span.text(conversation, s.of.ID)
	span.text(toolKind, c.Kind)
	span.text(toolStatus, c.Status)
	if e.Cancelled {
		span.attr(withdrawn, true)
	}
	if b.Content {
		span.did(c)
	}
	if e.End == trace.Failed {
		e.Reason = toolError
	}
	b.fail(&span, e)
	return span
}

// hear records what a message reveals about the current turn.
func (b *Builder) hear(f *dialect.Frame, e wire.Envelope) {
	if f.Session == "" || f.Kind == wire.Oversized {
		return
	}
	s := b.sessions[f.Session]
	if s == nil {
		return
	}
	working, _ := s.of.Conversation.Working()
	if working == nil || f.Dir != wire.AgentToClient {
		return
	}
	t := s.open[working.Number]
	if t == nil {
		return
	}
	if !f.Does(dialect.TellsUpdate) {
		t.endRun()
		return
	}
	t.update(b.at(f.At), f.Update, e.Params.Get("update"))
}

// update handles an update from the agent.
func (t *turn) update(at time.Time, variant string, update wire.Value) {
	u, _ := dialect.LookupUpdate(variant)
	switch u.Entity {
	case dialect.AgentMessage:
		t.say(at, "agent", update)
	case dialect.Thought:
		t.say(at, "thought", update)
	case dialect.ToolCall:
		t.endRun()
	case dialect.Plan:
		entries := update.Get("entries")
		if !entries.Exists() {
			entries = update.Get("plan.entries") // plan_update
		}
		t.tell(Event{at, planEvent, planProgress(entries)})
	case dialect.Mode:
		var mode Span
		mode.text(modeID, cmp.Or(update.Get("currentModeId").Text(), update.Get("modeId").Text()))
		t.tell(Event{at, modeEvent, mode.Attrs})
	}
}

func planProgress(entries wire.Value) []Attr {
	all, done := int64(0), int64(0)
	if !entries.IsArray() {
		return nil
	}
	for _, e := range entries.Array() {
		all++
		if e.Get("status").Text() == "completed" {
			done++
		}
	}
	return []Attr{{planEntries, all}, {planCompleted, done}}
}

// A run is a stretch in which the agent only speaks, or only thinks.
type run struct {
	role        string // empty: none
	began, last time.Time
	chunks      int64
	chars       int64 // Unicode characters
}

// say extends the run of a role, or begins a new one.
func (t *turn) say(at time.Time, role string, update wire.Value) {
	if t.run.role != role {
		t.endRun()
		t.run = run{role: role, began: at}
	}
	t.run.last = at
	t.run.chunks++
	t.run.chars += characters(update.Get("content"))
}

// characters counts the characters in the text of one or more content blocks.
func characters(content wire.Value) int64 {
	if !content.IsArray() {
		return int64(utf8.RuneCountInString(content.Get("text").Text()))
	}
	n := int64(0)
	for _, block := range content.Array() {
		n += int64(utf8.RuneCountInString(block.Get("text").Text()))
	}
	return n
}

// endRun adds an event for the current run, if there is one.
func (t *turn) endRun() {
	r := t.run
	if r.role == "" {
		return
	}
	t.run = run{}
	took := max(r.last.Sub(r.began), 0)
	t.events.event(Event{r.began, outputEvent, []Attr{
		{outputRole, r.role}, {outputChunks, r.chunks}, {outputChars, r.chars}, {outputSeconds, termtext.Seconds(took).Float()},
	}})
}
