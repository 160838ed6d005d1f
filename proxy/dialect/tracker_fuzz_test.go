package dialect_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// FuzzTracker cuts traffic anywhere: the Tracker that is restored there must go
// on as the one that saw everything.
func FuzzTracker(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint16(7))
		f.Add(bytes.ReplaceAll(text, []byte("\n< {"), []byte("\n~ {")), uint16(11))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint16) {
		whole := dialect.NewTracker(dialect.AnyProtocol)
		restored := dialect.NewTracker(dialect.AnyProtocol)
		lines := bytes.Split(text, []byte("\n"))
		var now time.Duration
		for i, line := range lines {
			if i == int(cut)%len(lines) {
				state, err := restored.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				restored = new(dialect.Tracker)
				if err := restored.UnmarshalBinary(state); err != nil {
					t.Fatalf("restoring %s: %v", state, err)
				}
			}
			frame, e := anyFrame(line)
			now += time.Duration(len(line)%16) * time.Second
			frame.Seq, frame.At, frame.Untimed = uint64(i)+1, now, len(line)%32 == 31
			annotation, facts := whole.Observe(&frame, e)
			gotAnnotation, gotFacts := restored.Observe(&frame, e)
			if !reflect.DeepEqual(gotAnnotation, annotation) || gotFacts != facts {
				t.Errorf("line %d, %q: got %+v %+v, want %+v %+v", i, line, gotAnnotation, gotFacts, annotation, facts)
			}
		}
		got, _ := restored.MarshalBinary()
		want, _ := whole.MarshalBinary()
		if !bytes.Equal(got, want) {
			t.Errorf("state: got\n%s\nwant\n%s", got, want)
		}
	})
}

// anyFrame reads a line like frame. A line that begins with ~ loses the second half of its
// content; a line that begins otherwise is the client's.
func anyFrame(line []byte) (wire.Frame, wire.Envelope) {
	f, ok := frame(string(line))
	cut := !ok && bytes.HasPrefix(line, []byte("~ "))
	switch {
	case cut:
		f.Dir, f.Raw = wire.AgentToClient, line[2:]
	case !ok:
		f.Raw = line
	}
	e := wire.Scan(f.Raw)
	if f.Kind == wire.Mark || f.Kind == wire.Stderr {
		return f, e
	}
	f.Kind = e.Kind
	if cut && f.Kind != wire.Batch {
		f.Kind, e.Kind = wire.Oversized, wire.Oversized
		e.Params, e.Result, e.Error = half(e.Params), half(e.Result), half(e.Error)
	}
	return f, e
}

func half(b []byte) []byte { return b[:len(b)/2] }
