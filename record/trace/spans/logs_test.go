package spans_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace/spans"
)

// logged returns the records and the sets of a tape.
func logged(t *testing.T, path string, content bool) (list []spans.Record, sets []spans.Set) {
	t.Helper()
	tape, frames := read(t, path)
	b := spans.Builder{Content: content, Logs: true}
	b.Next(tape)
	for i := range frames {
		sets = append(sets, b.Add(&frames[i])...)
		if r, ok := b.Record(&frames[i]); ok {
			list = append(list, r)
		} else if frames[i].Kind != wire.Mark {
			t.Errorf("%s: frame %d has no record", path, frames[i].Seq)
		}
	}
	return list, append(sets, b.End()...)
}

func TestLogsGolden(t *testing.T) {
	for _, name := range []string{"demo", "sessions", "mcp"} {
		t.Run(name, func(t *testing.T) {
			list, sets := logged(t, tapes[name], false)
			names := map[spans.Ref]string{}
			for _, set := range sets {
				for _, s := range set.Spans {
					names[spans.Ref{Trace: s.Trace, ID: s.ID}] = s.Name
				}
			}
			var b bytes.Buffer
			for _, r := range list {
				fmt.Fprintln(&b, names[r.In], r.Attrs[1:])
			}
			golden := filepath.Join("testdata", name+".logs")
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("got\n%s\nwant\n%s", &b, want)
			}
		})
	}
}

// TestLogsLie: a record lies in a span that exists and has begun, and has a body only with
// Content.
func TestLogsLie(t *testing.T) {
	for _, path := range allTapes(t) {
		for _, content := range []bool{false, true} {
			list, sets := logged(t, path, content)
			starts := map[spans.Ref]spans.Span{}
			for _, set := range sets {
				for _, s := range set.Spans {
					starts[spans.Ref{Trace: s.Trace, ID: s.ID}] = s
				}
			}
			for _, r := range list {
				in, known := starts[r.In]
				if !known || r.Time.Before(in.Start) {
					t.Errorf("%s: %v lies in %q %v", path, r.Attrs[1:], in.Name, r.In)
				}
				if !content && r.Body != "" {
					t.Errorf("%s: %v has a body", path, r.Attrs)
				}
			}
		}
	}
}
