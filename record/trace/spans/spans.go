// Package spans turns the frames of a tape into spans for OpenTelemetry and other tracing
// tools. A turn is a trace that contains what the agent did in it. A connection is another
// trace, with the calls that belong to no turn.
//
// Spans depend only on the tape and on what Tape says about other tapes. Reading a tape again,
// even in part or on another machine, gives completed spans the same ids and attributes. Spans
// contain no content unless a Builder is asked for Content. The package stores nothing and
// reads no clock.
package spans

import (
	"time"
)

// A Span is an operation with a duration.
type Span struct {
	Trace  TraceID
	ID     SpanID
	Parent SpanID // zero: none
	Remote bool   // Parent is a foreign span, named by a traceparent

	Kind  Kind
	Name  string
	Start time.Time
	End   time.Time // not before Start

	Session string // empty: the connection's
	Frame   uint64 // Seq of the frame with which it began
	Attrs   []Attr
	Events  []Event
	Dropped int // number of events beyond maxEvents
	Links   []Link
	Error   string // error.type; empty if it did not fail
	Problem string // the error message, only with Content

	untimed bool // its duration is unknown
}

// A Kind is the kind of operation of a Span.
type Kind uint8

// The kinds.
const (
	Connection Kind = iota
	Turn
	ToolCall
	Call // of either side, including permissions
	Subagent
)

var kindNames = [...]string{"connection", "turn", "tool", "call", "subagent"}

// String returns the name that is hashed into ids. It must never change.
func (k Kind) String() string { return kindNames[k] }

// Asks reports whether spans of kind k are requests seen from the sender, which OpenTelemetry
// calls CLIENT. All others are INTERNAL.
func (k Kind) Asks() bool { return k == Turn || k == Call }

// An Attr is an attribute. Its value is a string, bool, int64, float64 or []string.
type Attr struct {
	Name  string
	Value any
}

// An Event is a moment within a Span.
type Event struct {
	Time  time.Time
	Name  string
	Attrs []Attr
}

// A Link points to a span of another trace.
type Link struct {
	Trace TraceID
	ID    SpanID
	Attrs []Attr
}

// A Set holds spans that completed together: a turn with everything below it, a call outside
// of turns, or the connection.
type Set struct {
	Resource []Attr
	Spans    []Span // a parent before its children

	Began time.Time // when the tape began
	Since time.Time // when the previous set completed, or else Began
	At    time.Time // when this set completed; not before Since
}

// maxEvents limits the events of a span (OpenTelemetry's default, SpanLimits).
const maxEvents = 128

func (s *Span) attr(name string, value any) { s.Attrs = append(s.Attrs, Attr{name, value}) }

// text adds an attribute unless it is empty.
func (s *Span) text(name, value string) {
	if value != "" {
		s.attr(name, clip(value, maxName))
	}
}

func (s *Span) event(e Event) {
	if len(s.Events) == maxEvents {
		s.Dropped++
		return
	}
	s.Events = append(s.Events, e)
}

func (s *Span) link(to Ref, why string) {
	s.Links = append(s.Links, Link{to.Trace, to.ID, []Attr{{linkKind, why}}})
}

// endsBy marks a span that ended later than its parent. parent is zero while the parent is
// open.
func (s *Span) endsBy(parent time.Time) {
	if !s.Remote && !parent.IsZero() && s.End.After(parent) {
		s.attr(outlasts, true)
	}
}

// A Ref identifies a span, possibly on another tape.
type Ref struct {
	Trace TraceID
	ID    SpanID
}

// under puts a span into the trace of its parent. If a traceparent has put the span elsewhere,
// under only links it to parent.
func (s *Span) under(parent Ref) {
	if s.Remote {
		s.link(parent, "parent")
		return
	}
	s.Trace, s.Parent = parent.Trace, parent.ID
}
