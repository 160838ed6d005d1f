// Package otlp writes spans, metrics derived from them, and frames as logs, in OTLP, the
// protocol of OpenTelemetry.
package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

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
	message(by *common.InstrumentationScope, id func([]byte) []byte) proto.Message
}

// Proto returns a request as binary protobuf.
func (e Encoder) Proto(r Request) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(r.message(e.scope(), unchanged))
}

// JSON returns a request as OTLP/JSON, on one line without a line end.
func (e Encoder) JSON(r Request) ([]byte, error) {
	// In OTLP/JSON, enums are numbers and IDs are hexadecimal (OTLP specification, "JSON
	// Protobuf Encoding").
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(r.message(e.scope(), hexadecimal))
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer // protojson inserts blanks, and not always the same ones
	err = json.Compact(&line, text)
	return line.Bytes(), err
}

// Size returns the size of a request in bytes, before compression.
func (e Encoder) Size(r Request) int { return proto.Size(r.message(e.scope(), unchanged)) }

func (e Encoder) scope() *common.InstrumentationScope {
	return &common.InstrumentationScope{Name: "github.com/acptap/acptap", Version: e.Version}
}

func unchanged(id []byte) []byte { return id }

// hexadecimal returns bytes whose base64 encoding is id in hexadecimal, because protojson
// writes all bytes as base64. Hexadecimal digits are also base64 digits, and an ID has a
// multiple of four of them, so it needs no padding.
func hexadecimal(id []byte) []byte {
	digits := make([]byte, 0, 2*len(id))
	for _, b := range id {
		digits = append(digits, "0123456789abcdef"[b>>4], "0123456789abcdef"[b&15])
	}
	id, err := base64.StdEncoding.AppendDecode(nil, digits)
	if err != nil {
		panic("otlp: an id is not 8 or 16 bytes long")
	}
	return id
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
func (sets Spans) message(by *common.InstrumentationScope, id func([]byte) []byte) proto.Message {
	r := &collector.ExportTraceServiceRequest{}
	var of *tracepb.ResourceSpans
	for i, set := range sets {
		if i == 0 || !slices.Equal(set.Resource, sets[i-1].Resource) {
			of = &tracepb.ResourceSpans{
				Resource:   &resource.Resource{Attributes: attributes(set.Resource)},
				ScopeSpans: []*tracepb.ScopeSpans{{Scope: by, SchemaUrl: spans.SchemaURL}},
			}
			r.ResourceSpans = append(r.ResourceSpans, of)
		}
		scope := of.ScopeSpans[0]
		for i := range set.Spans {
			scope.Spans = append(scope.Spans, span(&set.Spans[i], id))
		}
	}
	return r
}

func span(s *spans.Span, id func([]byte) []byte) *tracepb.Span {
	to := &tracepb.Span{
		TraceId: id(s.Trace[:]), SpanId: id(s.ID[:]), Name: s.Name, Kind: kind(s),
		StartTimeUnixNano: nanoseconds(s.Start), EndTimeUnixNano: nanoseconds(s.End),
		Attributes: attributes(s.Attrs), DroppedEventsCount: uint32(s.Dropped), Flags: flags(s),
	}
	if s.Parent != (spans.SpanID{}) {
		to.ParentSpanId = id(s.Parent[:])
	}
	for _, e := range s.Events {
		to.Events = append(to.Events, &tracepb.Span_Event{TimeUnixNano: nanoseconds(e.Time), Name: e.Name, Attributes: attributes(e.Attrs)})
	}
	for _, l := range s.Links {
		to.Links = append(to.Links, &tracepb.Span_Link{TraceId: id(l.Trace[:]), SpanId: id(l.ID[:]), Attributes: attributes(l.Attrs), Flags: isKnown | sampled})
	}
	if s.Error != "" {
		to.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: s.Problem}
	}
	return to
}

func kind(s *spans.Span) tracepb.Span_SpanKind {
	if s.Kind.Asks() {
		return tracepb.Span_SPAN_KIND_CLIENT
	}
	return tracepb.Span_SPAN_KIND_INTERNAL
}

// Flags of a span and a link (trace.proto, SpanFlags). The lowest byte is that of W3C Trace
// Context.
const (
	sampled  = 0x01
	isKnown  = 0x100 // isRemote is valid: whether the parent belongs to another process
	isRemote = 0x200
)

func flags(s *spans.Span) uint32 {
	if s.Remote {
		return sampled | isKnown | isRemote
	}
	return sampled | isKnown
}

// nanoseconds returns a time in nanoseconds since 1970, or 0, which means unknown, if
// that cannot represent it.
func nanoseconds(t time.Time) uint64 {
	if t.Year() < 1970 || t.Year() > 2261 {
		return 0
	}
	return uint64(max(t.UnixNano(), 0))
}

func attributes(list []spans.Attr) []*common.KeyValue {
	to := make([]*common.KeyValue, len(list))
	for i, a := range list {
		to[i] = &common.KeyValue{Key: a.Name, Value: value(a.Value)}
	}
	return to
}

// value returns a value of one of the types that an Attr has.
func value(v any) *common.AnyValue {
	switch v := v.(type) {
	case string:
		return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: v}}
	case bool:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: v}}
	case int64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v}}
	case float64:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v}}
	case []string:
		list := &common.ArrayValue{}
		for _, text := range v {
			list.Values = append(list.Values, value(text))
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
	}
	panic("otlp: an attribute of another type than those of spans.Attr")
}
