package otlp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	logs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/spans"
)

var encoder = otlp.Encoder{Version: "test"}

// A jsonRequest has the parts that OTLP/JSON specifies differently from protojson: ids are
// hexadecimal, enums numbers, 64-bit integers strings.
type jsonRequest struct {
	ResourceSpans []struct {
		ScopeSpans []struct {
			Spans []struct {
				TraceID, SpanID, ParentSpanID string
				Name                          string
				Kind                          int
				Flags                         uint32
				StartTimeUnixNano             string
				EndTimeUnixNano               string
				Attributes                    []struct {
					Key   string
					Value map[string]any
				}
				Links  []struct{ TraceID, SpanID string }
				Status struct{ Code int }
			}
		}
	}
}

// TestJSON: OTLP/JSON says the same as binary protobuf, in the form that is specified.
func TestJSON(t *testing.T) {
	sets := read(t)
	var want collector.ExportTraceServiceRequest
	binary := encoder.Proto(sets)
	if err := proto.Unmarshal(binary, &want); err != nil {
		t.Fatal(err)
	}
	text := encoder.JSON(sets)
	if bytes.ContainsAny(text, "\n") {
		t.Errorf("it is more than a line: %s", text)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var got jsonRequest
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.ResourceSpans) != len(want.ResourceSpans) {
		t.Fatalf("got %d resources, want %d", len(got.ResourceSpans), len(want.ResourceSpans))
	}
	n := 0
	for i, r := range want.ResourceSpans {
		if got, want := len(got.ResourceSpans[i].ScopeSpans[0].Spans), len(r.ScopeSpans[0].Spans); got != want {
			t.Fatalf("resource %d: got %d spans, want %d", i, got, want)
		}
		for j, w := range r.ScopeSpans[0].Spans {
			g := got.ResourceSpans[i].ScopeSpans[0].Spans[j]
			n++
			for _, id := range []struct {
				got  string
				want []byte
			}{{g.TraceID, w.TraceId}, {g.SpanID, w.SpanId}, {g.ParentSpanID, w.ParentSpanId}} {
				if id.got != hex.EncodeToString(id.want) {
					t.Errorf("%s: id %s, want %x", w.Name, id.got, id.want)
				}
			}
			if g.Name != w.Name || g.Kind != int(w.Kind) || g.Flags != w.Flags || g.Status.Code != int(w.GetStatus().GetCode()) || len(g.Links) != len(w.Links) ||
				g.StartTimeUnixNano != strconv.FormatUint(w.StartTimeUnixNano, 10) || g.EndTimeUnixNano != strconv.FormatUint(w.EndTimeUnixNano, 10) {
				t.Errorf("got %+v, want %v", g, w)
			}
			for k, a := range g.Attributes {
				if number, ok := a.Value["intValue"]; a.Key != w.Attributes[k].Key || ok && number != strconv.FormatInt(w.Attributes[k].Value.GetIntValue(), 10) {
					t.Errorf("%s: got %v, want %v", w.Name, a, w.Attributes[k])
				}
			}
		}
	}
	if n != 16 {
		t.Errorf("there are %d spans, want 16", n)
	}
}

// TestForm holds the form of a line against a span that was read by eyes.
func TestForm(t *testing.T) {
	sets := read(t)
	text := encoder.JSON(sets[:1])
	const want = `^\{"resourceSpans":\[\{"resource":\{"attributes":\[\{"key":"service\.name","value":\{"stringValue":"demo"\}\},.*\]\},` +
		`"scopeSpans":\[\{"scope":\{"name":"github\.com/acptap/acptap","version":"test"\},` +
		`"spans":\[\{"traceId":"[0-9a-f]{32}","spanId":"[0-9a-f]{16}","parentSpanId":"[0-9a-f]{16}","flags":257,"name":"initialize","kind":3,` +
		`"startTimeUnixNano":"[0-9]{19}","endTimeUnixNano":"[0-9]{19}","attributes":\[.*\{"key":"acptap\.frame","value":\{"intValue":"1"\}\}.*\]\}\],"schemaUrl":"https://opentelemetry\.io/schemas/gen-ai/0\.1\.0"\}\]\}\]\}$`
	if !regexp.MustCompile(want).Match(text) {
		t.Errorf("got %s", text)
	}
}

// TestFailed: a span has a status if it failed, and only then.
func TestFailed(t *testing.T) {
	for _, failed := range []string{"", "tool_error"} {
		binary := encoder.Proto(otlp.Spans{{Spans: []spans.Span{{Error: failed, Problem: failed}}}})
		var r collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(binary, &r); err != nil {
			t.Fatal(err)
		}
		status := r.ResourceSpans[0].ScopeSpans[0].Spans[0].Status
		if got := status.GetCode() == tracepb.Status_STATUS_CODE_ERROR; got != (failed != "") || status.GetMessage() != failed || !got && status != nil {
			t.Errorf("%q: got %v", failed, status)
		}
	}
}

// read returns the spans of the tape of the demo.
func read(tb testing.TB) otlp.Spans {
	tb.Helper()
	file, err := os.Open("../../../../../record/trace/spans/testdata/demo.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	tape, err := record.ReadPortable(file, "demo")
	if err != nil {
		tb.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		tb.Fatal(err)
	}
	var b spans.Builder
	b.Next(spans.Tape{ID: info.Tape, Start: info.Start.Time, Name: info.Start.Name, Connection: info.Connection})
	var sets []spans.Set
	for f, err := range tape.Frames(1) {
		if err != nil {
			tb.Fatal(err)
		}
		sets = append(sets, b.Add(&f)...)
	}
	return append(sets, b.End()...)
}

// TestGenerated: the types that protoc generates for OTLP read the same from protobuf and from
// JSON, for each signal, and know every field.
func TestGenerated(t *testing.T) {
	sets := read(t)
	var meter spans.Meter
	records := otlp.Records{{Body: "\xff\u2028<&>\x01", Stderr: true}, {Time: time.Unix(1, 2), Attrs: []spans.Attr{
		{Name: "", Value: ""}, {Name: "list", Value: []string{"", "a"}}, {Name: "none", Value: []string{}}, {Name: "no", Value: false}, {Name: "yes", Value: true},
		{Name: "zero", Value: int64(0)}, {Name: "least", Value: int64(math.MinInt64)}, {Name: "half", Value: 0.5}, {Name: "large", Value: 1e300}, {Name: "endless", Value: math.Inf(-1)},
	}}}
	for _, set := range sets {
		meter.Add(set)
	}
	sets[0].Spans[0].Links = []spans.Link{{Attrs: records[1].Attrs}}
	points := otlp.Points{Measured: meter.Take()}
	for _, tt := range []struct {
		request otlp.Request
		of      proto.Message
	}{
		{sets, &collector.ExportTraceServiceRequest{}}, {points, &metrics.ExportMetricsServiceRequest{}},
		{otlp.Points{Measured: points.Measured, Cumulative: true}, &metrics.ExportMetricsServiceRequest{}},
		{records, &logs.ExportLogsServiceRequest{}}, {otlp.Spans{}, &collector.ExportTraceServiceRequest{}},
	} {
		want, got := tt.of, proto.Clone(tt.of)
		if err := proto.Unmarshal(encoder.Proto(tt.request), want); err != nil {
			t.Fatal(err)
		}
		if size := encoder.Size(tt.request); size != proto.Size(want) {
			t.Errorf("got size %d, want %d", size, proto.Size(want))
		}
		if err := protojson.Unmarshal(encoder.JSON(tt.request), got); err != nil {
			t.Fatal(err)
		}
		idsOfJSON(t, want.ProtoReflect())
		if !proto.Equal(got, want) {
			t.Errorf("in JSON\n%v\nin protobuf\n%v", got, want)
		}
	}
}

// idsOfJSON makes of each id what protojson reads in its place: hexadecimal digits are base64
// digits too. It reports fields that OTLP does not know.
func idsOfJSON(t *testing.T, m protoreflect.Message) {
	t.Helper()
	if len(m.GetUnknown()) > 0 {
		t.Errorf("unknown fields in %v", m)
	}
	for f, v := range m.Range {
		switch {
		case f.Kind() == protoreflect.BytesKind:
			id, err := base64.StdEncoding.DecodeString(hex.EncodeToString(v.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			m.Set(f, protoreflect.ValueOfBytes(id))
		case f.Message() != nil && f.IsList():
			for i := range v.List().Len() {
				idsOfJSON(t, v.List().Get(i).Message())
			}
		case f.Message() != nil:
			idsOfJSON(t, v.Message())
		}
	}
}
