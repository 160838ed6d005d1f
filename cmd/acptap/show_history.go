package main

import (
	"errors"
	"io"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// A history is what happened on the tapes of a subject.
type history struct {
	trace  trace.Trace
	calls  nested.Join // of the servers that the agent started
	starts []time.Time // of each tape; nil if one of them has no date
	broken int         // parts that cannot be read
	stderr io.Writer   // is told why
}

func historyOf(sub ref.Subject, stderr io.Writer) (*history, error) {
	h := &history{stderr: stderr}
	for _, p := range sub.Parts {
		if err := h.read(sub, p); err != nil {
			return nil, err
		}
	}
	h.calls.End()
	if len(h.starts) < len(sub.Parts) {
		h.starts = nil // show times since the beginning of each
	}
	for _, p := range sub.Parts {
		servers, err := sub.Nested(p)
		if err != nil {
			return nil, err
		}
		for i := range servers {
			if err := h.readServer(sub.Store, &servers[i]); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// read reads a tape of the agent.
func (h *history) read(sub ref.Subject, p ref.Part) error {
	info, err := p.Tape.Info()
	if err != nil {
		return err
	}
	if t := info.Start.Time; !t.IsZero() {
		h.starts = append(h.starts, t.Local())
	}
	h.trace.Next(info.Connection)
	h.calls.Next(info.Tape, info.Start.Time)
	for f, err := range p.Tape.Frames(max(p.Run.First, 1)) {
		switch {
		case err != nil:
			h.fails(err)
		case sub.Has(p, &f):
			h.trace.Add(&f)
			h.calls.Take(&f, &h.trace)
		default:
			h.calls.Pass(&f) // the setup as the agent got it names no session
		}
	}
	return nil
}

// readServer reads the tape of a server.
func (h *history) readServer(store *record.Store, info *record.Info) error {
	tape, err := store.Open(info.Tape)
	switch {
	case errors.Is(err, record.ErrNoTape): // deleted meanwhile
		return nil
	case err != nil:
		return err
	}
	parent := info.Start.Parent
	t := &nested.Tape{ID: info.Tape, Parent: parent.Tape, Link: parent.Link, Server: info.ServerName(), Start: info.Start.Time}
	h.calls.Nested(t)
	for f, err := range tape.Frames(1) {
		if err != nil {
			h.fails(err)
			continue
		}
		t.Add(&f)
	}
	if !info.Live {
		t.End()
	}
	return nil
}

func (h *history) fails(err error) {
	h.broken++
	cli.Warn(h.stderr, "%v", err)
}
