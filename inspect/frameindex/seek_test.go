package frameindex

import (
	"context"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
)

// TestSeekEnds: a seek looks at few frames after it was ended, and tells how far it
// is until then.
func TestSeekEnds(t *testing.T) {
	l := NewIndex(func() {})
	const frames = 100_000
	for seq := uint64(1); seq <= frames; seq++ {
		f := dialect.Frame{}
		f.Seq = seq
		l.columns.Last = l.add(&f, nil, seq-1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told uint64
	looked := 0
	h := Seek{From: 1, Step: 1, May: func(*dialect.Frame) bool { looked++; return false }}
	found, err := h.Run(l.columns, nil, NewProgress(ctx, func(seq uint64) {
		if told = seq; seq > frames/2 {
			cancel()
		}
	}))
	if err != nil || found != 0 && found < frames/2 || told < frames/2 || looked > frames/2+1000 {
		t.Errorf("got frame %d and %v, told %d, after looking at %d", found, err, told, looked)
	}
}
