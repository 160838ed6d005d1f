package otlp_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"testing"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

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
	binary, err := encoder.Proto(sets)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(binary, &want); err != nil {
		t.Fatal(err)
	}
	text, err := encoder.JSON(sets)
	if err != nil {
		t.Fatal(err)
	}
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
	text, err := encoder.JSON(sets[:1])
	if err != nil {
		t.Fatal(err)
	}
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
		binary, err := encoder.Proto(otlp.Spans{{Spans: []spans.Span{{Error: failed, Problem: failed}}}})
		if err != nil {
			t.Fatal(err)
		}
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
