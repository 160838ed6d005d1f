package check

import (
	"context"
	"io"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/baseline"
	"github.com/acptap/acptap/inspect/conform/config"
	"github.com/acptap/acptap/inspect/conform/report"
)

// Lines are what was found in the frames of tapes: for each tape, by the number of the
// frame.
type Lines []map[uint64][]report.Line

// FindLines judges what is there of a subject by all rules, without exceptions. What the
// lines quote of the tapes may leave this machine, unless raw is set. What cannot be read
// is left out: reading the frames again reports it.
func FindLines(ctx context.Context, sub ref.Subject, raw bool) (Lines, error) {
	r := &run{
		Flags: Flags{Severity: conform.Note, Grace: conform.Grace}, rules: conform.Rules(), watches: true,
		config: &config.Config{}, baseline: &baseline.Baseline{}, renewed: &baseline.Baseline{},
		stderr: io.Discard,
	}
	j, err := r.begin(ctx, sub)
	if err == nil {
		err = j.judge(ctx, false)
	}
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	lines := make(Lines, len(sub.Parts))
	for i := range lines {
		lines[i] = map[uint64][]report.Line{}
	}
	for i := range j.section.Findings {
		f := &j.section.Findings[i]
		if !raw {
			f.Finding = *f.Shared()
		}
		on := lines[f.Tape]
		on[f.Seq] = append(on[f.Seq], report.LineOf(j.section.Tapes[f.Tape].ID, f))
	}
	return lines, nil
}
