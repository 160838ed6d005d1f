package diffpage

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

var update = flag.Bool("update", false, "rewrite testdata with what the page has")

// viewOf returns a view of two outlines, one step a line, each from a frame of its own.
func viewOf(left, right string) *View {
	taken := func(text string) taken {
		t := taken{state: state{ended: true}}
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if line != "" {
				t.steps = append(t.steps, compare.Step{Text: line, Position: compare.Position{Seq: uint64(i + 1)}})
			}
		}
		return t
	}
	label := func(at compare.Position) string { return termtext.Grouped(int64(at.Seq)) }
	r := NewReader(Subject{}, Subject{}, compare.Content)
	r.table = newTable(taken(left), taken(right))
	return NewView(r, [sides]Head{{"demo · 4ktmqf", label}, {"demo · kx9gyv", label}})
}

func spanText(spans []termtext.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// drawn returns the page, as wide as that, with the detail of each difference.
func drawn(t *testing.T, v *View, width int) string {
	t.Helper()
	var b strings.Builder
	lines := v.Lines(width)
	for _, l := range lines {
		spans := l.Spans
		if spans == nil {
			spans = v.Spans(l.Item, width)
		}
		if got := termtext.SpansWidth(spans); got > width || got < width-1 {
			t.Errorf("%q takes %d columns, want %d", spanText(spans), got, width)
		}
		fmt.Fprintln(&b, spanText(spans))
	}
	for item := v.NextDifference(-1, true); item >= 0; item = v.NextDifference(item, true) {
		d := v.Detail(item, width, 5)
		fmt.Fprintln(&b, "──", d.Title)
		for _, spans := range d.Lines {
			if got := termtext.SpansWidth(spans); got > width+1 {
				t.Errorf("%q takes %d columns, want at most %d", spanText(spans), got, width)
			}
			fmt.Fprintln(&b, spanText(spans))
		}
	}
	return b.String()
}

// TestView lays out outlines and compares the page with testdata.
func TestView(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			v := viewOf(string(a.Files[0].Data), string(a.Files[1].Data))
			got := &txtar.Archive{Comment: a.Comment, Files: a.Files[:2:2]}
			got.Files = append(got.Files, txtar.File{Name: "summary", Data: []byte(v.Reader.Table().Summary() + "\n")})
			for _, width := range []int{78, 118} {
				got.Files = append(got.Files, txtar.File{Name: fmt.Sprint(width), Data: []byte(drawn(t, v, width))})
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(got)), string(txtar.Format(a))); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}
