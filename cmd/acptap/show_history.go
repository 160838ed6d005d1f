package main

import (
	"context"
	"io"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record/reading"
)

// A history is what happened on the tapes of a subject.
type history struct {
	reading.History
	starts []time.Time // of each tape; nil if any has no date
	broken int         // parts that cannot be read
}

// historyOf reads a subject. It reports parts that cannot be read to stderr.
func historyOf(ctx context.Context, sub ref.Subject, stderr io.Writer) (*history, error) {
	r, err := sub.Reader(false, sub.Parts...)
	if err != nil {
		return nil, err
	}
	h := &history{}
	for _, p := range r.Agents() {
		if t := p.Info.Start.Time; !t.IsZero() {
			h.starts = append(h.starts, t.Local())
		}
	}
	if len(h.starts) < len(sub.Parts) {
		h.starts = nil // then times are relative to the start of each tape
	}
	for e := range r.Read(ctx) {
		if h.Take(e); e.Err != nil {
			h.broken++
			cli.Warn(stderr, "%v", e.Err)
		}
	}
	if agents := r.Agents(); agents[len(agents)-1].Info.Live {
		h.Calls.End()
	} else {
		h.End()
	}
	return h, ctx.Err()
}
