package spans

import (
	"cmp"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A Builder makes spans from the frames of a tape, or of several in succession. Its zero
// value is ready for Next. It is not safe for concurrent use.
type Builder struct {
	// Content adds what was said, asked and answered, titles and paths. The caller must
	// have removed secrets from the frames. It must not change after the first Add.
	Content bool

	// Logs means that Record will be called.
	Logs bool

	// Service is the service.name of the resource; empty: the name of the agent.
	Service string

	// Resource holds the user's resource attributes. The tape's attributes take precedence.
	Resource []Attr

	trace    trace.Trace
	tape     Tape
	conn     connection
	frame    *dialect.Frame // the frame being added; nil at the end of the tape
	calls    map[place]*call
	tools    map[place]bool // tool calls that have begun but have not been returned
	sessions map[string]*session
	location location
	sets     []Set
	last     time.Time // when the last set completed
}

// A Tape is what is known about a tape without reading it.
type Tape struct {
	ID         string
	Start      time.Time
	Name       string             // the user's name for the agent; empty: none
	Parent     string             // tape of the agent that started this server, if any
	Transport  string             // http or ws; empty: stdio
	Connection dialect.Connection // as known so far

	// Above returns the span of Parent that contains a call, given the frame and the id of its
	// request as JSON. ok is false if there is none. Above may be nil.
	Above func(frame uint64, id string) (above Ref, ok bool)

	// Before returns the last turn of a session that began before a time on an earlier tape.
	// ok is false if there is none. Before may be nil.
	Before func(session string, at time.Time) (last Ref, ok bool)
}

// A place is where something began. It is unique among things of one Kind.
type place struct {
	seq   uint64
	entry int
}

func placeOf(e *trace.Event) place { return place{e.First, e.Entry} }

// Next begins a tape. To complete the previous one, call End first.
func (b *Builder) Next(t Tape) {
	b.trace.Brief = !b.Content
	b.trace.Next(t.Connection)
	b.tape, b.conn, b.last = t, connection{}, t.Start
	b.calls, b.tools = map[place]*call{}, map[place]bool{}
	if b.sessions == nil {
		b.sessions = map[string]*session{}
	}
}

// Add handles the next frame, with its bytes, and returns the sets that it completes, in
// order. It keeps no part of f.
func (b *Builder) Add(f *dialect.Frame) []Set {
	b.sets, b.frame, b.location = nil, f, location{}
	b.conn.add(f)
	b.trace.Add(f)
	for _, e := range b.trace.Events() {
		b.take(&e)
	}
	if f.AtClient() && !f.Redelivered {
		for m, e := range f.Messages {
			b.hear(m, e)
		}
	}
	b.frame = nil
	return b.sets
}

// Working reports whether a turn is open.
func (b *Builder) Working() bool {
	for _, s := range b.sessions {
		if len(s.open) > 0 {
			return true
		}
	}
	return false
}

// End returns what is still open at the end of the tape, and the connection. It must not be
// called for a tape that continues.
func (b *Builder) End() []Set {
	b.sets = nil
	b.trace.End()
	events := b.trace.Events()
	if n := len(events); n > 0 { // the connection comes last
		b.conn.died = events[n-1].Kind == trace.ConnectionEvent && events[n-1].End == trace.Failed
	}
	for _, e := range events {
		b.take(&e)
	}
	return b.sets
}

// take handles an event.
func (b *Builder) take(e *trace.Event) {
	s := b.session(e.Session)
	if e.Phase == trace.Began {
		defer b.locate(e, s)
	} else {
		b.locate(e, s)
	}
	switch {
	case e.Kind == trace.ConnectionEvent && e.Phase == trace.Ended:
		b.complete(b.connection(e))
	case e.Kind == trace.CallEvent:
		b.call(e, s)
	case e.Kind == trace.PermissionEvent && e.Phase == trace.Began:
		b.permission(e)
	case e.Kind == trace.TurnEvent:
		b.turn(e, s)
	case e.Kind == trace.ToolCallEvent && !e.Repeated:
		b.toolCall(e, s)
	case e.Kind == trace.SubagentEvent && e.Phase == trace.Ended && !e.Repeated:
		b.subagent(e, s)
	}
}

// complete adds a set.
func (b *Builder) complete(spans ...Span) {
	set := Set{Resource: b.resource(), Spans: spans, Began: b.tape.Start, Since: b.last, At: b.last}
	for i := range spans {
		if end := spans[i].End; end.After(set.At) {
			set.At = end
		}
	}
	b.last = set.At
	b.sets = append(b.sets, set)
}

// now returns what is known about the connection.
func (b *Builder) now() *dialect.Connection { return &b.trace.Runs[len(b.trace.Runs)-1] }

// agent returns the agent's name, or "" if unknown.
func (b *Builder) agent() string { return cmp.Or(b.now().Agent, b.tape.Name) }

// begin returns the span of something that has just ended.
func (b *Builder) begin(k Kind, e *trace.Event, name string) Span {
	s := Span{
		ID: spanID(b.tape.ID, k, e.First, e.Entry), Kind: k, Name: clip(name, maxName),
		Start: b.at(e.Began), End: b.at(max(e.Began, e.At)),
		Session: e.SessionID, Frame: e.First, untimed: e.Untimed,
	}
	s.attr(tapeID, b.tape.ID)
	s.attr(frameNumber, int64(e.First))
	switch e.End {
	case trace.StillOpen, trace.Replaced, trace.Forgotten:
		s.attr(stillOpen, true)
	}
	return s
}

// fail marks a span as failed if the event is a failure.
func (b *Builder) fail(s *Span, e *trace.Event) {
	switch {
	case e.End == trace.Failed:
		s.Error = cmp.Or(clip(e.Reason, maxName), toolError)
	case e.End == trace.StillOpen && b.conn.died:
		s.Error = agentGone
	}
	s.text(errorType, s.Error)
}

// explain adds the message of an error, if there is one.
func (s *Span) explain(err wire.JSON) {
	s.Problem = clip(err.Get("message").Text(), maxValue)
}

// at converts a time on the tape to a time of day.
func (b *Builder) at(since time.Duration) time.Time { return b.tape.Start.Add(since) }

// request returns the request in the current frame, which is the frame or an entry of a
// batch, and its params. They are empty if the request is too large.
func (b *Builder) request(entry int) (whole []byte, params wire.JSON) {
	i := 0
	for m, e := range b.frame.Messages {
		if i == entry && m.Kind != wire.Oversized {
			return m.Raw, e.Params
		}
		i++
	}
	return nil, nil
}

// answer returns the response to the call that an event has ended. It is empty at the end of
// the tape.
func (b *Builder) answer(e *trace.Event) wire.Envelope {
	if b.frame == nil {
		return wire.Envelope{}
	}
	for m, env := range b.frame.Messages {
		if m.Kind != wire.Oversized && env.Method == nil && string(env.ID) == e.ID {
			return env
		}
	}
	return wire.Envelope{}
}

// clip shortens text to the given number of bytes, and makes it valid UTF-8, as
// OpenTelemetry requires.
func clip(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.Clone(strings.ToValidUTF8(text, "\uFFFD"))
}
