// Package otlp writes spans, metrics derived from them, and frames as logs, in OTLP, the
// protocol of OpenTelemetry.
package otlp

import (
	"slices"
	"time"

	"github.com/acptap/acptap/record/trace/spans"
)

// MaxSpans limits the spans in a request, unless more of them completed together.
const MaxSpans = 512

// An Encoder encodes requests. Version is that of acptap.
type Encoder struct {
	Version string
}

// A Request is what is sent at once for one Signal: Spans, Points or Records.
type Request interface {
	Len() int // the number of spans, points or records
	message(by Encoder) message
}

// Proto returns a request as binary protobuf.
func (e Encoder) Proto(r Request) []byte { return r.message(e).appendProto(nil) }

// JSON returns a request as OTLP/JSON, on one line without a line end.
func (e Encoder) JSON(r Request) []byte { return r.message(e).appendJSON(nil) }

// Size returns the size of a request in bytes, before compression.
func (e Encoder) Size(r Request) int { return len(e.Proto(r)) }

// from returns what is sent of a resource: a list of spans, metrics or log records. scopes and
// list are the names that OTLP gives both.
func (e Encoder) from(of []spans.Attr, scopes, name string, list []message) message {
	scope := message{{1, "name", text("github.com/acptap/acptap")}, {2, "version", text(e.Version)}}
	return message{
		{1, "resource", message{{1, "attributes", attributes(of)}}},
		{2, scopes, []message{{{1, "scope", scope}, {2, name, list}, {3, "schemaUrl", text(spans.SchemaURL)}}}},
	}
}

// Spans are a request with the spans in sets.
type Spans []spans.Set

// Len returns the number of spans.
func (sets Spans) Len() (n int) {
	for _, set := range sets {
		n += len(set.Spans)
	}
	return n
}

// message returns an ExportTraceServiceRequest. Sets with the same resource share it.
func (sets Spans) message(by Encoder) message {
	var all, list []message
	for i, set := range sets {
		for i := range set.Spans {
			list = append(list, span(&set.Spans[i]))
		}
		if i+1 == len(sets) || !slices.Equal(set.Resource, sets[i+1].Resource) {
			all, list = append(all, by.from(set.Resource, "scopeSpans", "spans", list)), nil
		}
	}
	return message{{1, "resourceSpans", all}}
}

func span(s *spans.Span) message {
	var parent id
	if s.Parent != (spans.SpanID{}) {
		parent = s.Parent[:]
	}
	var events, links []message
	for _, e := range s.Events {
		events = append(events, message{{1, "timeUnixNano", nanoseconds(e.Time)}, {2, "name", text(e.Name)}, {3, "attributes", attributes(e.Attrs)}})
	}
	for _, l := range s.Links {
		links = append(links, message{{1, "traceId", id(l.Trace[:])}, {2, "spanId", id(l.ID[:])}, {4, "attributes", attributes(l.Attrs)}, {6, "flags", fixed32(isKnown | sampled)}})
	}
	var status message
	if s.Error != "" {
		status = message{{2, "message", text(s.Problem)}, {3, "code", varint(statusError)}}
	}
	return message{
		{1, "traceId", id(s.Trace[:])}, {2, "spanId", id(s.ID[:])}, {4, "parentSpanId", parent}, {16, "flags", flags(s)},
		{5, "name", text(s.Name)}, {6, "kind", kind(s)}, {7, "startTimeUnixNano", nanoseconds(s.Start)}, {8, "endTimeUnixNano", nanoseconds(s.End)},
		{9, "attributes", attributes(s.Attrs)}, {11, "events", events}, {12, "droppedEventsCount", varint(s.Dropped)},
		{13, "links", links}, {15, "status", status},
	}
}

// Values of enums (trace.proto).
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

func kind(s *spans.Span) varint {
	if s.Kind.Asks() {
		return kindClient
	}
	return kindInternal
}

// Flags of a span and a link (trace.proto, SpanFlags). The lowest byte is that of W3C Trace
// Context.
const (
	sampled  = 0x01
	isKnown  = 0x100 // isRemote is valid: whether the parent belongs to another process
	isRemote = 0x200
)

func flags(s *spans.Span) fixed32 {
	if s.Remote {
		return sampled | isKnown | isRemote
	}
	return sampled | isKnown
}

// nanoseconds returns a time in nanoseconds since 1970, or 0, which means unknown, if
// that cannot represent it.
func nanoseconds(t time.Time) fixed64 {
	if t.Year() < 1970 || t.Year() > 2261 {
		return 0
	}
	return fixed64(max(t.UnixNano(), 0))
}

func attributes(list []spans.Attr) (to []message) {
	for _, a := range list {
		to = append(to, message{{1, "key", text(a.Name)}, {2, "value", value(a.Value)}})
	}
	return to
}

// value returns an AnyValue of one of the types that an Attr has.
func value(v any) message {
	switch v := v.(type) {
	case string:
		return message{{1, "stringValue", v}}
	case bool:
		return message{{2, "boolValue", v}}
	case int64:
		return message{{3, "intValue", v}}
	case float64:
		return message{{4, "doubleValue", v}}
	case []string:
		var list []message
		for _, one := range v {
			list = append(list, value(one))
		}
		return message{{5, "arrayValue", message{{1, "values", list}}}}
	}
	panic("otlp: an attribute of another type than those of spans.Attr")
}
