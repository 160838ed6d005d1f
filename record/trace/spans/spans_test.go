package spans_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/spans"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// tapes are those of the golden files.
var tapes = map[string]string{
	"demo":      "testdata/demo.jsonl",
	"sessions":  "testdata/sessions.jsonl", // two beside each other and a fork; tools beside each other; a traceparent
	"mcp":       "../../../testdata/tapes/dialects/mcp-2025-11-25.jsonl",
	"load":      "testdata/load.jsonl",
	"cancelled": "../../../testdata/tapes/acpx-cancel.jsonl",
	"damaged":   "testdata/damaged.jsonl",
}

func TestGolden(t *testing.T) {
	for name, path := range tapes {
		t.Run(name, func(t *testing.T) {
			got := lines(t, build(t, path, false))
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A traceEvent is one that a Perfetto has written.
type traceEvent struct {
	Name, Ph, ID string
	Ts, Dur      float64 // µs
	Tid          int
	Args         map[string]any
}

// perfetto returns the trace events of a tape.
func perfetto(t *testing.T, path string) []traceEvent {
	t.Helper()
	tape, frames := read(t, path)
	var text bytes.Buffer
	w := spans.Perfetto{W: &text, Start: tape.Start}
	for _, set := range buildFrames(tape, frames, false, true) {
		if err := w.Write(set); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []traceEvent }
	if err := json.Unmarshal(text.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	return file.TraceEvents
}

// TestPerfetto: the demo has two threads, and slices for its turns and what lies in them.
func TestPerfetto(t *testing.T) {
	var slices, threads []string
	for _, e := range perfetto(t, tapes["demo"]) {
		switch e.Ph {
		case "X":
			slices = append(slices, fmt.Sprintf("%d %s %.0f+%.0f", e.Tid, e.Name, e.Ts, e.Dur))
		case "M":
			threads = append(threads, e.Args["name"].(string))
		}
	}
	if got, want := strings.Join(slices, "\n"), `1 initialize 9133+28888
2 session/new 53390+15416
2 invoke_agent demo-agent 84206+1154693
2 thought 99614+111235
2 execute_tool read 241556+46543
2 fs/read_text_file 256807+15459
2 message 318816+86727
2 execute_tool edit 420833+230362
2 session/request_permission 436087+151730
2 fs/write_text_file 619802+16087
2 terminal/create 682107+15322
2 execute_tool execute 715868+319331
2 terminal/wait_for_exit 733963+250589
2 terminal/output 1001475+18383
2 terminal/release 1050612+15312
2 message 1098053+94949
2 invoke_agent demo-agent 1254365+129735
2 message 1269830+32453
2 execute_tool search 1317657+46357
1 acptap.connection 9133+1377205`; got != want {
		t.Errorf("slices: got\n%s\nwant\n%s", got, want)
	}
	if got, want := strings.Join(threads, ", "), "tape 20261123T021438950-8ya0vc, connection, session sess-demo-1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestPerfettoNests: of two slices of a thread, one contains or follows the other, and
// asynchronous events begin and end.
func TestPerfettoNests(t *testing.T) {
	overlapping := 0
	for _, path := range allTapes(t) {
		var list []traceEvent
		open := map[string]int{}
		for _, e := range perfetto(t, path) {
			switch e.Ph {
			case "X":
				for _, o := range list {
					from, to := max(e.Ts, o.Ts), min(e.Ts+e.Dur, o.Ts+o.Dur)
					if shorter := min(e.Dur, o.Dur); e.Tid == o.Tid && to-from > 0.001 && shorter-(to-from) > 0.001 {
						t.Errorf("%s: %s at %.0f overlaps with %s at %.0f", path, e.Name, e.Ts, o.Name, o.Ts)
					}
				}
				list = append(list, e)
			case "b":
				overlapping++
				open[e.ID]++
			case "e":
				open[e.ID]--
			}
		}
		for id, n := range open {
			if n != 0 {
				t.Errorf("%s: %s begins %d times more than it ends", path, id, n)
			}
		}
	}
	if overlapping == 0 {
		t.Error("no tape has steps that overlap")
	}
}

// TestProperties: on all tapes, parents are in the trace of their spans, and ids are
// unique.
func TestProperties(t *testing.T) {
	for _, path := range allTapes(t) {
		for _, content := range []bool{false, true} {
			check(t, path, build(t, path, content))
		}
	}
}

// check checks what holds for all spans.
func check(t *testing.T, name string, sets []spans.Set) {
	t.Helper()
	traces, ends := map[spans.SpanID]spans.TraceID{}, map[spans.SpanID]time.Time{}
	for _, set := range sets {
		for _, s := range set.Spans {
			if _, twice := traces[s.ID]; twice || s.ID == (spans.SpanID{}) || s.Trace == (spans.TraceID{}) {
				t.Errorf("%s: %s of frame %d has the id of another, or none", name, s.Name, s.Frame)
			}
			traces[s.ID], ends[s.ID] = s.Trace, s.End
			if s.End.Before(s.Start) {
				t.Errorf("%s: %s of frame %d ends before it begins", name, s.Name, s.Frame)
			}
			for i, a := range s.Attrs {
				if slices.ContainsFunc(s.Attrs[:i], func(b spans.Attr) bool { return a.Name == b.Name }) {
					t.Errorf("%s: %s of frame %d has two %s", name, s.Name, s.Frame, a.Name)
				}
			}
		}
	}
	for _, set := range sets {
		for _, s := range set.Spans {
			if s.Remote || s.Parent == (spans.SpanID{}) {
				continue
			}
			if says := attribute(s, "acptap.outlasts_parent") == true; says != s.End.After(ends[s.Parent]) {
				t.Errorf("%s: %s of frame %d ends at %v, its parent at %v, acptap.outlasts_parent: %v", name, s.Name, s.Frame, s.End, ends[s.Parent], says)
			}
			if in, known := traces[s.Parent]; known && in != s.Trace {
				t.Errorf("%s: %s of frame %d is in another trace than its parent", name, s.Name, s.Frame)
			} else if !known {
				t.Errorf("%s: %s of frame %d has a parent that is not there", name, s.Name, s.Frame)
			}
		}
	}
}

// attribute returns the value of an attribute of a span; nil: it has none.
func attribute(s spans.Span, name string) any {
	for _, a := range s.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// TestOutlasting: a request of the agent that is answered after its turn says so, and so
// does what a server asks when the call that led to it is over. The message of an error is
// told with content only.
func TestOutlasting(t *testing.T) {
	for _, content := range []bool{false, true} {
		sets := build(t, "testdata/late.jsonl", content)
		check(t, "late", sets)
		told := map[string]string{}
		for _, set := range sets {
			for _, s := range set.Spans {
				told[s.Name] = fmt.Sprint(attribute(s, "acptap.outlasts_parent"), " ", s.Error, " ", s.Problem, " ", attribute(s, "gen_ai.usage.reasoning.output_tokens"))
			}
		}
		message := ""
		if content {
			message = "no such file"
		}
		for name, want := range map[string]string{
			"invoke_agent coder": "<nil>   7", "fs/read_text_file": "true -32002 " + message + " <nil>", "fs/write_text_file": "<nil>   <nil>", "execute_tool execute": "<nil>   <nil>",
		} {
			if told[name] != want {
				t.Errorf("%s: got %q, want %q", name, told[name], want)
			}
		}
	}
}

// TestTruncated: complete spans stay the same wherever the tape ends, and when it is read
// again.
func TestTruncated(t *testing.T) {
	for name, path := range tapes {
		tape, frames := read(t, path)
		for _, content := range []bool{false, true} {
			whole, again := buildFrames(tape, frames, content, true), buildFrames(tape, frames, content, true)
			want := lines(t, whole)
			if !bytes.Equal(lines(t, again), want) {
				t.Errorf("%s: read again, it says something else", name)
			}
			for n := range frames {
				if got := lines(t, buildFrames(tape, frames[:n], content, false)); !bytes.HasPrefix(want, got) {
					t.Fatalf("%s: of %d frames\n%s\nof all\n%s", name, n, got, want)
				}
				check(t, name, buildFrames(tape, frames[:n], content, true))
			}
		}
	}
}

// TestContent: without Content, spans have no word of what was said, or of a title, a path,
// a command or an output.
func TestContent(t *testing.T) {
	ours := strings.Fields("agent cancelled session client name demo first number second") // words of ours, or names that are told
	for name, words := range map[string][]string{
		"demo":     {"TestMean", "generic", "stats", "example", "Allow", "Reject"},
		"sessions": {"whispered", "pondering", "somebody", "blotted", "answered", "overwhelmed"},
		"damaged":  {"whispered", "somebody", "somewhere", "hidden"},
	} {
		_, frames := read(t, tapes[name])
		said := words
		for _, f := range frames {
			said = append(said, texts(wire.ValueOf(f.Raw))...)
		}
		without, with := string(lines(t, build(t, tapes[name], false))), string(lines(t, build(t, tapes[name], true)))
		for _, w := range said {
			if !slices.Contains(ours, w) && strings.Contains(without, w) {
				t.Errorf("%s: %q is told", name, w)
			}
		}
		if len(said) < 5 || !strings.Contains(with, words[0]) {
			t.Errorf("%s: with content, %q is not told, or the tape has only %d words", name, words[0], len(said))
		}
	}
}

// texts returns the words, of four letters or more, of the texts for people in a value.
func texts(v wire.Value) (words []string) {
	if !v.IsObject() && !v.IsArray() {
		return nil
	}
	v.ForEach(func(key, member wire.Value) bool {
		switch key.Text() {
		case "text", "title", "path", "content", "output", "command", "args", "cwd", "message", "oldText", "newText":
			for _, w := range strings.FieldsFunc(member.Text(), func(r rune) bool { return !unicode.IsLetter(r) }) {
				if len(w) >= 4 {
					words = append(words, w)
				}
			}
		}
		words = append(words, texts(member)...)
		return true
	})
	return words
}

// TestTraceparent: what is no traceparent (W3C Trace Context, section 3.2) changes nothing.
func TestTraceparent(t *testing.T) {
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	tape, _ := read(t, tapes["sessions"])
	for text, want := range map[string]bool{
		"00-" + trace + "-" + parent + "-01":                  true,
		"cc-" + trace + "-" + parent + "-00-more":             true,
		"00-" + trace + "-" + parent + "-01-more":             false,
		"ff-" + trace + "-" + parent + "-01":                  false,
		"00-" + strings.ToUpper(trace) + "-" + parent + "-01": false,
		"00-" + trace + "-0000000000000000-01":                false,
		"00-" + strings.Repeat("0", 32) + "-" + parent + "-1": false,
		"": false,
	} {
		set := buildFrames(tape, portable(t, `{"acptap":1}
{"dir":"c2a","frame":{"id":1,"method":"x","params":{"_meta":{"traceparent":"`+text+`"}}}}
{"dir":"a2c","frame":{"id":1,"result":{}}}`), false, false)
		if s := set[0].Spans[0]; s.Remote != want || want != (s.Trace.String() == trace && s.Parent.String() == parent) {
			t.Errorf("%q: got %v %v", text, s.Trace, s.Parent)
		}
	}
}

// TestTransport: the connection says how the two sides were connected.
func TestTransport(t *testing.T) {
	for name, want := range map[string]string{"stdio": "pipe ", "http": "tcp http", "ws": "tcp websocket"} {
		sets := build(t, "../../../testdata/tapes/transports/acp-npm-sdk-"+name+".jsonl", false)
		all := sets[len(sets)-1].Spans
		if got := value(all[0], "network.transport") + " " + value(all[0], "network.protocol.name"); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// value returns an attribute that is a string; "" if there is none.
func value(s spans.Span, name string) string {
	for _, a := range s.Attrs {
		if a.Name == name {
			text, _ := a.Value.(string)
			return text
		}
	}
	return ""
}

// FuzzSpans: whatever the lines, spans hang together and can be written. A line is that
// of the client if it begins with >, else the agent's.
func FuzzSpans(f *testing.F) {
	for _, name := range []string{"sessions", "damaged"} {
		_, frames := read(f, tapes[name])
		for some := range slices.Chunk(frames, 6) { // a whole tape would make each execution slow
			var text strings.Builder
			for _, frame := range some {
				text.WriteByte("><"[frame.Dir%2])
				text.Write(frame.Raw)
				text.WriteByte('\n')
			}
			f.Add(text.String())
		}
	}
	f.Add(`>[{"id":1,"method":"session/prompt","params":{"sessionId":"s"}},{"id":2,"method":"session/prompt","params":{"sessionId":"s"}}]
<[{"id":2,"result":{"stopReason":"\ud800"}},{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":{}}}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 16<<10 {
			return
		}
		tracker := dialect.NewTracker(dialect.AnyProtocol)
		var frames []dialect.Frame
		for line := range strings.SplitSeq(text, "\n") {
			raw, fromClient := strings.CutPrefix(line, ">")
			raw = strings.TrimPrefix(raw, "<")
			f := wire.Frame{Seq: uint64(len(frames) + 1), At: time.Duration(len(frames)), Dir: wire.AgentToClient, Raw: []byte(raw), Size: int64(len(raw))}
			if fromClient {
				f.Dir = wire.ClientToAgent
			}
			e := wire.Scan(f.Raw)
			f.Kind, f.Failed = e.Kind, e.Error != nil
			about, _ := tracker.Observe(&f, e)
			frames = append(frames, dialect.Frame{Frame: f, Annotation: about})
		}
		for _, content := range []bool{false, true} {
			sets := buildFrames(spans.Tape{ID: "fuzz"}, frames, content, true)
			check(t, "fuzz", sets)
			lines(t, sets)
		}
	})
}

func build(tb testing.TB, path string, content bool) []spans.Set {
	tb.Helper()
	tape, frames := read(tb, path)
	return buildFrames(tape, frames, content, true)
}

func buildFrames(tape spans.Tape, frames []dialect.Frame, content, ended bool) []spans.Set {
	b := spans.Builder{Content: content, Logs: true}
	b.Next(tape)
	var sets []spans.Set
	for i := range frames {
		sets = append(sets, b.Add(&frames[i])...)
		b.Record(&frames[i])
	}
	if ended {
		sets = append(sets, b.End()...)
	}
	return sets
}

// read reads a tape and its frames.
func read(tb testing.TB, path string) (spans.Tape, []dialect.Frame) {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	tape, err := record.ReadPortable(bytes.NewReader(text), path)
	if err != nil {
		tb.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		tb.Fatal(err)
	}
	return spans.Tape{
		ID: info.Tape, Start: info.Start.Time, Name: info.Start.Name, Transport: info.Start.Transport,
		Connection: dialect.Connection{Protocol: info.Connection.Protocol},
	}, portable(tb, string(text))
}

func portable(tb testing.TB, text string) (frames []dialect.Frame) {
	tb.Helper()
	tape, err := record.ReadPortable(strings.NewReader(text), "test")
	if err != nil {
		tb.Fatal(err)
	}
	for f, err := range tape.Frames(1) {
		if err != nil {
			tb.Fatal(err)
		}
		frames = append(frames, f)
	}
	return frames
}

// lines writes spans as JSON, one a line, and the resource wherever it is another than before.
func lines(tb testing.TB, sets []spans.Set) []byte {
	tb.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	var before []spans.Attr
	for _, set := range sets {
		if !slices.Equal(set.Resource, before) {
			if err := e.Encode(set.Resource); err != nil {
				tb.Fatal(err)
			}
			before = set.Resource
		}
		for _, s := range set.Spans {
			if err := e.Encode(s); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return b.Bytes()
}

func allTapes(tb testing.TB) []string {
	tb.Helper()
	var paths []string
	for _, pattern := range []string{"testdata/*.jsonl", "../../../testdata/*/*.jsonl", "../../../testdata/tapes/*/*.jsonl"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			tb.Fatal(err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// BenchmarkManyCalls makes the spans of a turn of many tool calls with a request in each:
// the time per call must not grow with their number.
func BenchmarkManyCalls(b *testing.B) {
	for _, calls := range []int{1000, 30_000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			var text strings.Builder
			say := func(dir, format string, args ...any) {
				fmt.Fprintf(&text, `{"dir":%q,"frame":{"jsonrpc":"2.0",`+format+"}}\n", append([]any{dir}, args...)...)
			}
			text.WriteString(`{"acptap":1,"started":"2026-01-02T15:04:05Z"}` + "\n")
			say("c2a", `"id":0,"method":"initialize","params":{"protocolVersion":1}`)
			say("a2c", `"id":0,"result":{"protocolVersion":1}`)
			say("c2a", `"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}`)
			for i := range calls {
				update := `"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"%s","toolCallId":"c%d","status":"%s"}}`
				say("a2c", update, "tool_call", i, "pending")
				say("a2c", `"id":%d,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/f"}`, i)
				say("c2a", `"id":%d,"result":{"content":""}`, i)
				say("a2c", update, "tool_call_update", i, "completed")
			}
			say("a2c", `"id":1,"result":{"stopReason":"end_turn"}`)
			frames := portable(b, text.String())
			for b.Loop() {
				buildFrames(spans.Tape{ID: "t"}, frames, false, true)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/call")
		})
	}
}
