package tapecheck

import (
	"cmp"
	"context"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// Findings holds all rules' findings on consecutive tapes.
type Findings struct {
	Err error // the first one that made part of a tape unreadable

	judge *Judge
	all   []*conform.Finding
	tapes []map[uint64][]*conform.Finding // by frame number
	last  uint64                          // last frame of the last tape that was judged
}

// Find judges at least one tape as far as it is recorded, skipping what it cannot read.
// It stops when ctx is done.
func Find(ctx context.Context, tapes ...*record.Tape) (*Findings, error) {
	parts, err := reading.Agents(tapes...)
	if err != nil {
		return nil, err
	}
	f := &Findings{judge: NewJudge(Options(parts...))}
	for e := range reading.New(parts).Read(ctx) {
		err := e.Err
		switch {
		case err != nil:
		case e.Kind == reading.Begins:
			err = f.judge.Begin(e.Part)
			f.take()
			f.tapes, f.last = append(f.tapes, map[uint64][]*conform.Finding{}), 0
		case e.Kind == reading.Read:
			f.Add(&e.Frame)
		case e.Kind == reading.Ends && e.Part.Index == len(parts)-1:
			err = f.judge.End()
			f.take()
		}
		f.Err = cmp.Or(f.Err, err)
	}
	return f, context.Cause(ctx)
}

// Add judges a new frame of the last tape.
func (f *Findings) Add(frame *dialect.Frame) {
	if frame.Seq <= f.last {
		return
	}
	f.last = frame.Seq
	f.judge.Add(frame)
	f.take()
}

func (f *Findings) take() {
	for _, found := range f.judge.New() {
		f.all = append(f.all, &found)
		frames := f.tapes[found.Tape]
		frames[found.Seq] = append(slices.Clip(frames[found.Seq]), &found)
	}
}

// All returns all findings.
func (f *Findings) All() []*conform.Finding { return f.all }

// Tapes returns the number of tapes.
func (f *Findings) Tapes() int { return len(f.tapes) }

// On returns a function that returns the findings on a frame of a tape, by number; the
// first tape is 0. Its results are valid until the next Add.
func (f *Findings) On(tape int) func(seq uint64) []*conform.Finding {
	frames := f.tapes[tape]
	return func(seq uint64) []*conform.Finding { return frames[seq] }
}
