package frameindex

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// TestSeekBytes: a seek that looks at the bytes finds the nearest frame on either way.
func TestSeekBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	var text strings.Builder
	text.WriteString(`{"acptap":1}` + "\n")
	for _, method := range strings.Fields("other wanted wanted other wanted wanted other wanted") { // 1 to 8
		text.WriteString(`{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"` + method + `"}}` + "\n")
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	timeline, err := OpenTimeline("tape", func() ([]*record.Tape, error) {
		tape, err := record.OpenFile(path)
		return []*record.Tape{tape}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	l := NewIndex(func() {})
	l.Read(t.Context(), timeline)
	columns, _, _, _ := l.current()
	tests := []struct {
		name             string
		from, step, want uint64
	}{
		{"forwards", 4, 1, 5},
		{"forwards, at once", 5, 1, 5},
		{"forwards, the last", 7, 1, 8},
		{"backwards", 7, Backward, 6},
		{"backwards, at once", 5, Backward, 5},
		{"backwards, past another", 4, Backward, 3},
		{"backwards, the first", 2, Backward, 2},
		{"backwards, none", 1, Backward, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Seek{
				From: tt.from, Step: tt.step,
				FieldsFit: func(*dialect.Frame) bool { return true },
				BytesFit:  func(f *dialect.Frame) bool { return bytes.Contains(f.Raw, []byte("wanted")) },
			}
			got, err := s.Run(columns, timeline, NewProgress(t.Context(), func(uint64) {}))
			if err != nil || got != tt.want {
				t.Errorf("got frame %d and %v, want %d", got, err, tt.want)
			}
		})
	}
}

// TestSeekEnds: a seek looks at few frames after it was ended, and tells how far it
// is until then.
func TestSeekEnds(t *testing.T) {
	l := NewIndex(func() {})
	const frames = 100_000
	for seq := uint64(1); seq <= frames; seq++ {
		f := dialect.Frame{}
		f.Seq = seq
		l.columns.Last = l.add(nil, &f, nil, seq-1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told uint64
	looked := 0
	h := Seek{From: 1, Step: 1, FieldsFit: func(*dialect.Frame) bool { looked++; return false }}
	found, err := h.Run(l.columns, nil, NewProgress(ctx, func(seq uint64) {
		if told = seq; seq > frames/2 {
			cancel()
		}
	}))
	if err != nil || found != 0 && found < frames/2 || told < frames/2 || looked > frames/2+1000 {
		t.Errorf("got frame %d and %v, told %d, after looking at %d", found, err, told, looked)
	}
}
