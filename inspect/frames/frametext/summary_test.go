package frametext_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

var update = flag.Bool("update", false, "rewrite testdata with what the package says")

// TestSummary tells the tapes of testdata. A line that begins with > is a frame
// of the client, with < one of the agent, with ! a line of stderr; the word mark
// makes it a mark. The line with = under it is the summary.
func TestSummary(t *testing.T) {
	for _, file := range tapeFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			frames := tape(string(text))
			var track filter.Tracker
			for line := range strings.Lines(string(text)) {
				if line[0] == '=' {
					continue
				}
				out.WriteString(line)
				if line[0] != '#' {
					s := track.Observe(&frames[0])
					fmt.Fprintln(&out, strings.TrimSpace("= "+frametext.Summary(frames[0], s.Tool)))
					frames = frames[1:]
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			got, want := strings.Split(out.String(), "\n"), strings.Split(string(text), "\n")
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Errorf("line %d: got\n%s\nwant\n%s\nof\n%s", i+1, got[i], want[i], got[max(i-1, 0)])
				}
			}
			if len(got) != len(want) {
				t.Errorf("got %d lines, want %d", len(got), len(want))
			}
		})
	}
}

func tapeFiles(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no tapes: %v", err)
	}
	return files
}

// tape returns the frames in a text, 10 ms apart, with their annotations.
func tape(text string) []dialect.Frame {
	var frames []dialect.Frame
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line == "" || line[0] == '=' || line[0] == '#' {
			continue
		}
		f := wire.Frame{Seq: uint64(len(frames) + 1), At: time.Duration(len(frames)+1) * 10 * time.Millisecond}
		raw, isMark := strings.CutPrefix(line[2:], "mark ")
		f.Raw, f.Size = []byte(raw), int64(len(raw))
		e := wire.Scan(f.Raw)
		f.Kind = e.Kind
		switch line[0] {
		case '<':
			f.Dir = wire.AgentToClient
		case '!':
			f.Dir, f.Kind = wire.AgentStderr, wire.Stderr
		}
		if isMark {
			f.Kind = wire.Mark
		}
		about, _ := tracker.Observe(&f, e)
		f.Failed = dialect.Failed(e, &about)
		frames = append(frames, dialect.Frame{Frame: f, Annotation: about})
	}
	return frames
}

// TestCoverage holds the tapes of testdata to have every method that the
// dialects know, asked and answered, and every variant of session/update.
func TestCoverage(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range tapeFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range tape(string(text)) {
			seen[f.Kind.String()+" "+f.Method] = true
			seen[f.Update] = true
		}
	}
	for _, m := range dialect.Methods() {
		call, answer := "request ", "response "
		if m.Form == dialect.AsNotification {
			call, answer = "notification ", "notification "
		}
		for _, form := range []string{call, answer} {
			if !seen[form+m.Name] {
				t.Errorf("no %s%s", form, m.Name)
			}
		}
	}
	for _, u := range dialect.Updates() {
		if !seen[u.Name] {
			t.Errorf("no update %s", u.Name)
		}
	}
}

func TestSummaryOfLargeFrames(t *testing.T) {
	long := strings.Repeat("word ", wire.MaxChecked/4)
	frame := func(raw string) dialect.Frame {
		f := wire.Frame{Kind: wire.Oversized, Size: int64(len(raw)), Raw: []byte(raw)[:wire.MaxChecked]}
		about, _ := dialect.NewTracker(dialect.ACP).Observe(&f, wire.ScanPrefix(f.Raw))
		return dialect.Frame{Frame: f, Annotation: about}
	}
	tests := []struct{ name, raw, want string }{
		{"text at the end", `{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + long, "word word "},
		{"title before it", `{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","title":"Read","status":"pending","rawInput":"` + long, "Read · pending"},
		{"nested", `{"method":"_x","params":` + strings.Repeat(`[`, wire.MaxChecked), "[[[["},
		{"batch", `[` + strings.Repeat(`{"method":"_x"},`, wire.MaxChecked/8), `[{"method":"_x"}`},
	}
	for _, tt := range tests {
		if got := frametext.Summary(frame(tt.raw), filter.Tool{}); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want it to begin with %q", tt.name, got, tt.want)
		}
	}
}

func TestSummaryWithoutBytes(t *testing.T) {
	f := dialect.Frame{Frame: wire.Frame{Kind: wire.Request, Size: 10}, Annotation: dialect.Annotation{Method: "session/prompt"}}
	if got := frametext.Summary(f, filter.Tool{}); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

// FuzzSummary gives frames of any shape, of any method.
func FuzzSummary(f *testing.F) {
	for _, file := range tapeFiles(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, frame := range tape(string(text)) {
			f.Add(frame.Raw, frame.Method, frame.Update, byte(frame.Kind))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, method, update string, kind byte) {
		frame := dialect.Frame{Annotation: dialect.Annotation{Method: method, Update: update}}
		frame.Raw, frame.Size = raw, int64(len(raw))
		frame.Kind = wire.Scan(raw).Kind
		if k := wire.Kind(kind); k == wire.Oversized || k == wire.Stderr || k == wire.Mark {
			frame.Kind = k
		}
		got := frametext.Summary(frame, filter.Tool{})
		if n := utf8.RuneCountInString(got); n > 510 || !utf8.ValidString(got) {
			t.Errorf("%d characters: %q", n, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }); i >= 0 {
			t.Errorf("a control character at %d of %q", i, got)
		}
	})
}

func BenchmarkSummary(b *testing.B) {
	chunk := tape(`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Let me look at the tests first."}}}}`)[0]
	call := tape(`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"` + strings.Repeat(`line of a file\n`, 1<<16-100) + `"}}]}}}`)[0]
	for _, bb := range []struct {
		name  string
		frame dialect.Frame
	}{{"chunk", chunk}, {"1MB", call}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(bb.frame.Size)
			for b.Loop() {
				frametext.Summary(bb.frame, filter.Tool{})
			}
		})
	}
}
