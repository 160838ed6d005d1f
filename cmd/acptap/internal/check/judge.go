package check

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
)

// A judgement is the work on one subject.
type judgement struct {
	*run
	sub     ref.Subject
	name    string // name of its tape for people; empty: its usual name
	section *report.Section
	part    ref.Part // the current one
	nth     int      // its index
	lines   int64    // on it
	checker *conform.Checker
	taken   int // findings of the checker that were handled
	queries queries
	stalls  tapecheck.Stalls
	own     []conform.Verdict // of ownRules, on the current tape
	loaded  []string          // sessions that were loaded on the current tape
	aliases aliases
}

// begin prepares a judgement.
func (r *run) begin(ctx context.Context, sub ref.Subject) (*judgement, error) {
	options, err := tapecheck.Options(ctx, sub.Tapes()...)
	if err != nil {
		return nil, err
	}
	options.Grace, options.Rules = max(r.Grace, 1), r.rules // 0 would be the default
	j := &judgement{run: r, sub: sub, checker: conform.NewChecker(options), queries: newQueries(r.demands)}
	j.section = &report.Section{Session: sub.Session, Baseline: r.baselineFile != "" && !r.update}
	return j, nil
}

// judge judges a subject. It reports what cannot be read, and goes on.
func (j *judgement) judge(ctx context.Context, follow bool) error {
	for i, p := range j.sub.Parts {
		if err := j.start(ctx, i); err != nil {
			return err
		}
		frames := p.Tape.Frames(1)
		if follow && i == len(j.sub.Parts)-1 {
			frames = p.Tape.Follow(ctx, 1)
		}
		for f, err := range frames {
			if ctx.Err() != nil {
				break
			}
			if err != nil {
				j.tell(err)
				continue
			}
			if j.bar != nil && f.Seq%1024 == 0 {
				j.bar.Show(int64(f.Seq), j.lines)
			}
			j.frame(&f)
		}
		j.end()
	}
	return nil
}

// start starts a part of the subject.
func (j *judgement) start(ctx context.Context, part int) error {
	if part == 0 {
		if err := j.queries.Judge(ctx, j.sub); err != nil {
			return err
		}
	}
	j.nth, j.part = part, j.sub.Parts[part]
	info, err := j.part.Tape.Info()
	if err != nil {
		return err
	}
	j.lines = int64(info.Lines)
	if part > 0 {
		j.checker.Next(tapecheck.Beginning(&info))
	}
	j.section.Tapes = append(j.section.Tapes, j.tape(&info))
	j.aliases = aliases{}
	j.startOwn()
	j.queries.startTape(j.part, &info)
	if j.watches {
		j.stalls.Start(j.part.Tape, part)
	}
	return nil
}

// frame judges the next frame of the part.
func (j *judgement) frame(f *dialect.Frame) {
	j.checker.Add(f)
	j.noteLoad(f)
	if j.aliases.add(f, j.sub.Session); f.Origin != wire.Withheld { // the next frame tells to which session it belongs
		j.take(f)
	}
	j.addOwn(j.stalls.Frame(f), f)
	j.addOwn(j.queries.frame(f, j.nth, j.sub.Has(j.part, f)), f)
}

// end ends the part.
func (j *judgement) end() {
	if err := j.lossy(j.nth); err != nil {
		j.tell(err)
	}
	j.checker.End()
	j.take(nil)
	found := j.stalls.End()
	if j.nth == len(j.sub.Parts)-1 {
		found = append(found, j.queries.end(j.nth)...)
	}
	j.addOwn(found, nil)
	j.conclude()
}

// take handles the new findings of the checker. last is the frame that it got last.
func (j *judgement) take(last *dialect.Frame) {
	found := j.checker.Findings()
	for i := range found[j.taken:] {
		j.add(&found[j.taken+i], last)
	}
	j.taken = len(found)
}

// startOwn starts a tape for the rules that are not in a checker: ownRules.
func (j *judgement) startOwn() {
	j.own = nil
	for _, r := range j.ownRules() {
		j.own = append(j.own, conform.Verdict{Rule: r, Tried: true})
	}
}

// maxOwn limits the reported findings of each of ownRules on a tape, as for all rules.
const maxOwn = 1000

// addOwn adds findings of ownRules.
func (j *judgement) addOwn(found []conform.Finding, last *dialect.Frame) {
	for i := range found {
		if !j.isAbout(&found[i]) {
			continue
		}
		v := &j.own[slices.IndexFunc(j.own, func(v conform.Verdict) bool { return v.Rule == found[i].Rule })]
		if v.Found++; v.Found > maxOwn {
			v.Lost++
			continue
		}
		j.add(&found[i], last)
	}
}

// add adds a finding unless it is filtered out.
func (j *judgement) add(found *conform.Finding, last *dialect.Frame) {
	t := j.part.Tape
	f := report.Finding{Finding: *found}
	conn := j.checker.Connection()
	f.Strength = j.config.Strength(found, &conn, j.choose)
	wanted := j.wanted(&f.Finding)
	if !wanted && j.baseline.Len() == 0 {
		return
	}
	f.Public = report.Publish(found, quotable(found, t, last)...)
	f.Key = faultKey(f.Shared())
	f.Known = j.baseline.Knows(f.Key) && !j.update // it is there even if it is not reported
	if !wanted {
		return
	}
	if f.Seq != 0 {
		f.Line = t.Line(f.Seq)
	}
	for _, seq := range f.Because {
		f.BecauseLines = append(f.BecauseLines, t.Line(seq))
	}
	j.renewed.Add(f.Shared(), f.Key)
	j.section.Findings = append(j.section.Findings, f)
	if j.live != nil && !f.Known {
		j.live.Finding(j.section, &f) // the next flush returns the error
		j.flush()
	}
}

// quotable returns the frames that a finding may quote: the frame at which it was found,
// and the frame that it is about.
func quotable(f *conform.Finding, t *record.Tape, last *dialect.Frame) (frames []redact.Bytes) {
	if last != nil {
		frames = append(frames, redact.Bytes{Kind: last.Kind, Raw: last.Raw})
	}
	if f.Seq == 0 || f.Got == "" || last != nil && last.Seq == f.Seq {
		return frames
	}
	if about, err := t.Frame(f.Seq); err == nil {
		frames = append(frames, redact.Bytes{Kind: about.Kind, Raw: about.Raw})
	}
	return frames
}

// isAbout reports whether a finding is about the subject.
func (j *judgement) isAbout(f *conform.Finding) bool {
	return j.sub.Session == "" || f.Session == "" || f.Session == j.sub.Session || f.Fault == conform.Agent && j.aliases.has(f.Session)
}

// wanted reports whether to report a finding.
func (j *judgement) wanted(f *conform.Finding) bool {
	switch {
	case f.Strength == conform.None: // ignored
		return false
	case !j.isAbout(f):
		return false
	case j.by != conform.Sender && f.Fault != j.by && f.Rule != report.Expect:
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
	case j.name != "":
		t.Name, t.File = j.name, i.Tape+".jsonl"
	case j.sub.File != "":
		t.Name, t.File = filepath.Base(j.sub.File), filepath.ToSlash(j.sub.File)
	case i.Tape == "":
		t.Name, t.File = "stdin", "stdin.jsonl"
	default:
		t.File = i.Tape + ".jsonl"
	}
	return t
}

// conclude notes what is known about a tape at its end.
func (j *judgement) conclude() {
	t := j.section.Tapes[len(j.section.Tapes)-1]
	t.Verdicts, t.Connection = append(j.checker.Verdicts(), j.own...), j.checker.Connection()
	if info, err := j.part.Tape.Info(); err == nil {
		t.Frames = info.Frames
	}
}

// fails reports whether a section has a finding that makes the exit status 1.
func (r *run) fails(s *report.Section) bool {
	return slices.ContainsFunc(s.Findings, func(f report.Finding) bool {
		return r.failOn != conform.None && !f.Known && f.Strength >= r.failOn
	})
}
