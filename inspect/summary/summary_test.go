package summary_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// Each case has tapes, in a short form of the portable one, and the lines that they
// give at 80 columns. Failures stand in ‹›.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var tapes []reading.Part
			want := -1
			for i, f := range a.Files {
				if f.Name == "want" {
					want = i
					continue
				}
				tapes = append(tapes, source(t, f))
			}
			if want < 0 {
				want = len(a.Files)
				a.Files = append(a.Files, txtar.File{Name: "want"})
			}
			s, _ := summary.Of(t.Context(), reading.New(tapes))
			got := text(s, 80)
			if *update {
				a.Files[want].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(a.Files[want].Data) {
				t.Errorf("got\n%swant\n%s", got, a.Files[want].Data)
			}
			fits(t, s)
		})
	}
}

// source reads a tape. A line that begins with > or < has a time and what the client
// or the agent said; others are those of the portable form. A file called live is a
// tape that is being recorded.
func source(t *testing.T, f txtar.File) reading.Part {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(string(f.Data)) {
		dir, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		at, frame, _ := strings.Cut(rest, " ")
		if dir = map[string]string{">": "c2a", "<": "a2c"}[dir]; dir == "" {
			b.WriteString(line)
			continue
		}
		if at != "?" {
			at = `"at":` + at + `,`
		} else {
			at = ""
		}
		fmt.Fprintf(&b, `{%s"dir":%q,"frame":%s}`+"\n", at, dir, frame)
	}
	tape, err := record.ReadPortable(strings.NewReader(b.String()), f.Name)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	info.Live = f.Name == "live"
	info.Imported = !info.Live && info.Exit == nil && f.Name != "cut off"
	return reading.Part{Info: info, Frames: tape.Frames(1)}
}

func text(s summary.Summary, width int) string {
	var b strings.Builder
	for _, line := range s.Lines(width) {
		for _, span := range line {
			if span.Style == termtext.Red {
				span.Text = "‹" + span.Text + "›"
			}
			b.WriteString(span.Text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fits fails if a line is too long at some width, or if dividing lines changes them.
func fits(t *testing.T, s summary.Summary) {
	t.Helper()
	for _, width := range []int{20, 40, 80, 120, 200} {
		for _, line := range s.Lines(width) {
			if n := termtext.SpansWidth(line); n > width {
				t.Errorf("at %d columns a line takes %d: %q", width, n, line)
			}
		}
	}
	// But for quotes, failures after which the work went on, and a word that is longer than a line,
	// nothing is lost.
	s.Exchanges, s.Called, s.Changes = nil, nil, nil
	s.Failures.Worst = slices.DeleteFunc(slices.Clone(s.Failures.Worst), func(f summary.Failure) bool { return f.Past() })
	for i := range s.Failures.Worst {
		s.Failures.Worst[i].Since, s.Failures.Worst[i].Comment = "", ""
	}
	bare := strings.NewReplacer("‹", "", "›", "", "·", "", "█", "", "▓", "", "▒", "", "░", "", "▌", "", "▐", "")
	whole, divided := strings.Fields(bare.Replace(text(s, 0))), strings.Fields(bare.Replace(text(s, 79)))
	if got, want := strings.Join(divided, " "), strings.Join(whole, " "); got != want {
		t.Errorf("divided\n%s\nwhole\n%s", got, want)
	}
}

// What cannot be read is reported, and the rest is summarized.
func TestDamaged(t *testing.T) {
	tape, err := record.OpenFile("../../testdata/tapes/acpx-exec.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	damage := errors.New("damaged")
	s, broken := summary.Of(t.Context(), reading.New([]reading.Part{{Frames: func(yield func(dialect.Frame, error) bool) {
		for f, err := range tape.Frames(1) {
			if f.Seq == 4 {
				err = damage
			}
			if !yield(f, err) {
				return
			}
		}
	}}}))
	if !slices.Equal(broken, []error{damage}) || s.Broken != 1 {
		t.Errorf("got %v, %d parts; want %v, 1", broken, s.Broken, damage)
	}
	if got, want := text(s, 0), "1 part of the tape cannot be read›\n"; !strings.Contains(got, want) || s.Turns.Count != 1 {
		t.Errorf("got %d turns, %q; want 1, and %q", s.Turns.Count, got, want)
	}
}

// The recorded tapes, of many agents and all dialects, as text and as JSON.
func TestRecordedTapes(t *testing.T) {
	files, err := filepath.Glob("../../testdata/tapes/*.jsonl")
	more, _ := filepath.Glob("../../testdata/tapes/dialects/*.jsonl")
	if err != nil || len(files) == 0 || len(more) == 0 {
		t.Fatal("no tapes", err)
	}
	var lines, objects bytes.Buffer
	for _, name := range append(files, more...) {
		tape, err := record.OpenFile(name)
		if err != nil {
			t.Fatal(err)
		}
		info, err := tape.Info()
		if err != nil {
			t.Fatal(err)
		}
		s, broken := summary.Of(t.Context(), reading.New([]reading.Part{{Info: info, Frames: tape.Frames(1)}}))
		if broken != nil {
			t.Fatal(broken)
		}
		fits(t, s)
		if got, want := s.Failures.Count, int(info.Failures); got != want {
			t.Errorf("%s: %d failures, and the tape says %d", name, got, want)
		}
		if s.Frames != info.Frames {
			t.Errorf("%s: %d frames, and the tape says %d", name, s.Frames, info.Frames)
		}
		fmt.Fprintf(&lines, "%s\n%s\n", filepath.Base(name), text(s, 80))
		b, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if base := filepath.Base(name); base == "acp-v1.jsonl" || base == "mcp-everything.jsonl" {
			fmt.Fprintf(&objects, "%s\n", b)
		}
	}
	golden(t, "testdata/tapes.txt", lines.Bytes())
	golden(t, "testdata/tapes.json", objects.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s", name, got)
	}
}
