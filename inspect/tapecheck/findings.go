package tapecheck

import (
	"context"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// Findings are the findings of all rules on consecutive tapes, for filters.
type Findings struct {
	checker *conform.Checker
	tapes   []map[uint64][]filter.Finding // by the numbers of the frames
	taken   int
	last    uint64 // frame of the last tape that was judged
}

// Find judges at least one tape as far as it is recorded. It skips what it cannot read;
// reading the frames again reports it. Find stops when ctx is done.
func Find(ctx context.Context, tapes ...*record.Tape) (*Findings, error) {
	o, err := Options(ctx, tapes...)
	if err != nil {
		return nil, err
	}
	f := &Findings{checker: conform.NewChecker(o)}
	live := false
	for i, t := range tapes {
		info, err := t.Info()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			f.checker.Next(Beginning(&info))
		}
		f.tapes = append(f.tapes, map[uint64][]filter.Finding{})
		f.last = 0
		for frame, err := range t.Frames(1) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err == nil {
				f.Add(&frame)
			}
		}
		live = info.Live
	}
	if !live {
		f.checker.End()
		f.take()
	}
	return f, nil
}

// Add judges a new frame of the last tape.
func (f *Findings) Add(frame *dialect.Frame) {
	if frame.Seq <= f.last {
		return
	}
	f.last = frame.Seq
	f.checker.Add(frame)
	f.take()
}

func (f *Findings) take() {
	all := f.checker.Findings()
	for i := range all[f.taken:] {
		found := &all[f.taken+i]
		frames := f.tapes[found.Tape]
		frames[found.Seq] = append(slices.Clip(frames[found.Seq]), ForFilter(found))
	}
	f.taken = len(all)
}

// Tapes returns how many tapes there are.
func (f *Findings) Tapes() int { return len(f.tapes) }

// On returns a function for the findings on the frames of a tape, by their numbers; the
// first tape is 0. Its results are valid until the next Add.
func (f *Findings) On(tape int) func(seq uint64) []filter.Finding {
	frames := f.tapes[tape]
	return func(seq uint64) []filter.Finding { return frames[seq] }
}

// ForFilter returns a finding as filters see it. Both packages number strengths and sides
// alike.
func ForFilter(f *conform.Finding) filter.Finding {
	return filter.Finding{Rule: f.Rule.ID, Name: f.Rule.Name, Strength: filter.Strength(f.Strength), Fault: filter.Fault(f.Fault)}
}
