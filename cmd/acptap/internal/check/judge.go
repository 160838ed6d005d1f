package check

import (
	"context"
	"iter"
	"path/filepath"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// A judgement is the work on one subject.
type judgement struct {
	*run
	sub     subject
	section *report.Section
	checker *conform.Checker
	taken   int // findings of the checker that are in the section
}

// begin readies a judgement.
func (r *run) begin(sub subject) (*judgement, error) {
	options, err := tapecheck.Options(sub.Tapes()...)
	if err != nil {
		return nil, err
	}
	options.Grace, options.Rules = r.Grace, r.rules
	j := &judgement{run: r, sub: sub, checker: conform.NewChecker(options)}
	j.section = &report.Section{Session: sub.Session, Weaker: make([]int, conform.Violation+1)}
	return j, nil
}

// judge judges a subject. What of it cannot be read is told.
func (j *judgement) judge(ctx context.Context, follow bool) error {
	for i, p := range j.sub.Parts {
		info, err := p.Tape.Info()
		if err != nil {
			return err
		}
		if i > 0 {
			j.checker.Next(tapecheck.Beginning(&info))
		}
		j.section.Tapes = append(j.section.Tapes, j.tape(&info))
		frames := p.Tape.Frames(1)
		if follow && i == len(j.sub.Parts)-1 {
			frames = p.Tape.Follow(ctx, 1)
		}
		j.frames(frames)
		j.checker.End()
		j.take()
		j.conclude(p.Tape)
	}
	return nil
}

// frames feeds the frames of a tape to the checker.
func (j *judgement) frames(frames iter.Seq2[dialect.Frame, error]) {
	for f, err := range frames {
		if err != nil {
			j.tell(err)
			continue
		}
		j.checker.Add(&f)
		j.take()
	}
}

// take takes what the checker has found since.
func (j *judgement) take() {
	found := j.checker.Findings()
	for i := range found[j.taken:] {
		f := &found[j.taken+i]
		if !j.wanted(f) {
			continue
		}
		j.section.Findings = append(j.section.Findings, report.Finding{Finding: *f})
	}
	j.taken = len(found)
}

// wanted reports whether a finding is reported.
func (j *judgement) wanted(f *conform.Finding) bool {
	switch {
	case j.sub.Session != "" && f.Session != "" && f.Session != j.sub.Session:
		return false
	case j.by != conform.Sender && f.Fault != j.by:
		return false
	case f.Strength < j.Severity:
		j.section.Weaker[f.Strength]++
		return false
	}
	return true
}

func (j *judgement) tape(i *record.Info) *report.Tape {
	t := &report.Tape{ID: i.Tape, Name: tapetext.ShortID(i.Tape), Start: i.Start.Time}
	switch {
	case j.sub.file != "":
		t.Name, t.File = filepath.Base(j.sub.file), filepath.ToSlash(j.sub.file)
	case i.Tape == "":
		t.Name, t.File = "stdin", "stdin.jsonl"
	default:
		t.File = i.Tape + ".jsonl"
	}
	return t
}

// conclude takes what is known of a tape at its end.
func (j *judgement) conclude(tape *record.Tape) {
	t := j.section.Tapes[len(j.section.Tapes)-1]
	t.Verdicts, t.Connection = j.checker.Verdicts(), j.checker.Connection()
	if info, err := tape.Info(); err == nil {
		t.Frames = info.Frames
	}
}

// fails reports whether a section has something that makes the exit status 1.
func (r *run) fails(s *report.Section) bool {
	return slices.ContainsFunc(s.Findings, func(f report.Finding) bool {
		return r.failOn != conform.None && !f.Known && f.Strength >= r.failOn
	})
}
