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
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/redact"
)

// A judgement is the work on one subject.
type judgement struct {
	*run
	sub     ref.Subject
	parts   []reading.Part
	name    string // name of its tape for people; empty: its usual name
	section *report.Section
	part    *reading.Part // the current one; nil: none yet
	judge   *tapecheck.Judge
	queries queries
	own     []conform.Verdict // of ownRules, on the current tape
	aliases aliases
}

// begin prepares a judgement.
func (r *run) begin(sub ref.Subject) (*judgement, error) {
	parts, err := sub.Agents(sub.Parts...)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		parts[i].From = 1 // a session depends on what was said before it
	}
	options := tapecheck.Options(parts...)
	options.Grace, options.Rules = max(r.Grace, 1), r.rules // 0 would be the default
	j := &judgement{run: r, sub: sub, parts: parts, judge: tapecheck.NewJudge(options), queries: newQueries(r.demands)}
	j.section = &report.Section{Baseline: r.baselineFile != "" && !r.update}
	return j, nil
}

// read judges the whole subject. It reports what cannot be read, and continues.
func (j *judgement) read(ctx context.Context, follow bool) error {
	r := reading.New(j.parts)
	r.Follow = follow
	for e := range r.Read(ctx) {
		switch {
		case e.Kind == reading.Begins:
			if err := j.start(ctx, e.Part); err != nil {
				return err
			}
		case e.Err != nil:
			j.tell(e.Err)
		case e.Kind == reading.Read:
			if j.bar != nil && e.Frame.Seq%1024 == 0 {
				j.bar.Show(int64(e.Frame.Seq), int64(j.part.Info.Lines))
			}
			j.frame(&e.Frame)
		}
	}
	j.end()
	return nil
}

// start starts a part of the subject.
func (j *judgement) start(ctx context.Context, part *reading.Part) error {
	if part.Index == 0 {
		if err := j.queries.Judge(ctx, j.sub.Tapes()...); err != nil {
			return err
		}
	} else {
		j.end()
	}
	j.part = part
	if err := j.judge.Begin(part); err != nil {
		return err
	}
	j.section.Tapes = append(j.section.Tapes, j.tape(&part.Info))
	j.aliases = aliases{}
	j.startOwn()
	j.queries.StartTape(part)
	return nil
}

// frame judges the next frame of the part.
func (j *judgement) frame(f *dialect.Frame) {
	j.judge.Add(f)
	if j.aliases.add(f, j.sub.Session); f.Origin != wire.Withheld { // the next frame shows which session it belongs to
		j.take(j.judge.New(), f)
	}
	j.take(j.queries.frame(f, j.part), f)
}

// end ends the part.
func (j *judgement) end() {
	if j.part == nil {
		return
	}
	if err := j.judge.End(); err != nil {
		j.tell(err)
	}
	found := j.judge.New()
	if j.part.Index == len(j.sub.Parts)-1 {
		found = append(found, j.queries.end(j.part.Index)...)
	}
	j.take(found, nil)
	j.conclude()
}

// startOwn starts a tape for ownRules, which are outside of any checker.
func (j *judgement) startOwn() {
	j.own = nil
	for _, r := range j.ownRules() {
		j.own = append(j.own, conform.Verdict{Rule: r, Tried: true})
	}
}

// maxOwn limits the reported findings per tape of each of ownRules, as for all rules.
const maxOwn = 1000

// take handles new findings. last is the frame judged last.
func (j *judgement) take(found []conform.Finding, last *dialect.Frame) {
	for i := range found {
		if f := &found[i]; j.counts(f) {
			j.add(f, last)
		}
	}
}

// counts counts a finding of ownRules, and reports whether to handle it further, like
// those of a checker.
func (j *judgement) counts(f *conform.Finding) bool {
	if !slices.Contains(report.Own(), f.Rule) {
		return true
	}
	i := slices.IndexFunc(j.own, func(v conform.Verdict) bool { return v.Rule == f.Rule })
	if i < 0 || !j.isAbout(f) { // WATCH may not be selected
		return false
	}
	v := &j.own[i]
	if v.Found++; v.Found > maxOwn {
		v.Lost++
	}
	return v.Found <= maxOwn
}

// add adds a finding unless it is filtered out. One that is too weak to report may still
// make the check fail.
func (j *judgement) add(found *conform.Finding, last *dialect.Frame) {
	t := j.part.Tape
	f := report.Finding{Finding: *found}
	conn := j.judge.Checker.Connection()
	f.Strength = j.config.Strength(found, &conn, j.choose)
	wanted := j.wanted(&f.Finding)
	shown, fails := wanted && f.Strength >= j.Severity, wanted && j.failOn.Fails(&f.Finding)
	if wanted && !shown {
		j.section.Weaker[f.Strength]++
	}
	if !shown && !fails && j.baseline.old.Len() == 0 {
		return
	}
	f.Public = report.Publish(found, quotable(found, t, last)...)
	j.baseline.Take(&f, shown || fails)
	j.failed = j.failed || fails && !f.Known
	if !shown {
		return
	}
	if f.Seq != 0 {
		f.Line = t.Line(f.Seq)
	}
	for _, seq := range f.Because {
		f.BecauseLines = append(f.BecauseLines, t.Line(seq))
	}
	j.section.Findings = append(j.section.Findings, f)
	if j.live != nil && !f.Known {
		j.live.Finding(j.section, &f) // the next flush returns the error
		j.flush()
	}
}

// quotable returns the frames that a finding may quote: the one at which it was found,
// and the one that it concerns.
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

// isAbout reports whether a finding concerns the subject.
func (j *judgement) isAbout(f *conform.Finding) bool {
	return j.sub.Session == "" || f.Session == "" || f.Session == j.sub.Session || f.Fault == conform.Agent && j.aliases.has(f.Session)
}

// wanted reports whether the flags and the exceptions keep a finding, however weak it is.
func (j *judgement) wanted(f *conform.Finding) bool {
	switch {
	case f.Strength == conform.None: // ignored
		return false
	case !j.isAbout(f):
		return false
	case j.by != conform.Sender && f.Fault != j.by && f.Rule != report.Expect && f.Rule != report.Forbid:
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
	t.Verdicts, t.Connection = append(j.judge.Checker.Verdicts(), j.own...), j.judge.Checker.Connection()
	info, err := j.part.Tape.Info()
	if err != nil {
		return
	}
	t.Frames, t.Outcome = info.Frames, info.Outcome()
	if j.part.Index == len(j.parts)-1 && !info.Live {
		t.Uncalled = j.judge.Uncalled()
	}
}

// servers judges the tapes of the servers that a subject's agent has started, and of
// their servers, each once. Their sections are named REF+NAME.
func (r *run) servers(ctx context.Context, sub ref.Subject) error {
	for _, p := range sub.Parts {
		reader, err := sub.Reader(true, p)
		if err != nil {
			return err
		}
		for _, server := range reader.Servers() {
			if r.judged[server.Info.Tape] {
				continue
			}
			one := ref.Subject{Store: sub.Store, Parts: []ref.Part{{Tape: server.Tape}}}
			if err := r.subject(ctx, one, tapetext.ShortID(p.Tape.ID())+"+"+server.Server); err != nil {
				return err
			}
		}
	}
	return nil
}
