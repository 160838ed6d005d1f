package check

import (
	"context"
	"io"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
)

// A Found holds the findings of each tape, by frame number.
type Found []map[uint64][]*report.Finding

// Find judges a subject by all rules, without exceptions, as far as it has been recorded.
// It redacts the findings unless raw is set. It skips what it cannot read; rereading the
// frames reports that. bar shows the progress.
func Find(ctx context.Context, sub ref.Subject, raw bool, bar *cli.Progress) (Found, error) {
	r := &run{
		Flags: Flags{Severity: conform.Note, Grace: conform.Grace}, rules: conform.Rules(), watches: true,
		config: &exceptions{}, baseline: &Baseline{old: &baseline{}, now: &baseline{}},
		stderr: io.Discard, bar: bar,
	}
	j, err := r.begin(sub)
	if err == nil {
		err = j.read(ctx, false)
	}
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	found := make(Found, len(sub.Parts))
	for i := range found {
		found[i] = map[uint64][]*report.Finding{}
	}
	for i := range j.section.Findings {
		f := &j.section.Findings[i]
		if !raw {
			f.Finding = *f.Shared()
		}
		on := found[f.Tape]
		on[f.Seq] = append(on[f.Seq], f)
	}
	return found, nil
}
