package probe

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/replay/script"
)

// linesOf returns the sequence numbers of the frames in dir that are lines. replays reports
// whether the peer is acptap replaying a tape, and missed whether that tape lacks an answer to
// what the case sent.
func linesOf(t *record.Tape, dir wire.Direction) (frames []uint64, missed, replays bool, err error) {
	for f, err := range t.Frames(1) {
		switch {
		case err != nil:
			return nil, false, false, err
		case f.Kind == wire.Stderr:
			replays = replays || bytes.HasPrefix(f.Raw, []byte("acptap: "))
			missed = missed || bytes.HasPrefix(f.Raw, []byte("acptap: miss: "))
		case f.Dir == dir && f.Kind != wire.Mark:
			frames = append(frames, f.Seq)
			missed = missed || f.Kind == wire.Response && strings.HasPrefix(wire.Scan(f.Raw).Error.Get("message").Text(), "acptap replay: ")
		}
	}
	return frames, missed, replays || missed, nil
}

// unanswered lists the rules about requests without an answer.
var unanswered = []string{"RPC018", "RPC026"}

// breaches returns the rule findings on the tape of a case. It keeps only findings about the
// peer. It drops notes, rules that the case owns, and findings about frames that the case has
// judged or whose request itself broke a rule. If the case missed something, it also drops
// findings about missing answers, which would repeat that.
func breaches(ctx context.Context, t *record.Tape, k Kind, owns []string, outcomes []script.Outcome, lines []uint64) ([]*report.Finding, error) {
	found, err := tapecheck.Find(ctx, t)
	if err != nil {
		return nil, err
	}
	side, ours := conform.Agent, conform.Client
	if k == Client {
		side, ours = ours, side
	}
	var provoked []uint64 // frames of ours that broke a rule
	for _, f := range found.All() {
		if f.Fault == ours {
			provoked = append(provoked, f.Seq)
		}
	}
	missed := slices.ContainsFunc(outcomes, func(o script.Outcome) bool { return o.State == script.Missed })
	var judged []uint64 // frames that the case has already reported as wrong
	for i := range outcomes {
		if o := &outcomes[i]; o.State == script.Missed && o.Line > 0 && o.Line <= len(lines) {
			judged = append(judged, lines[o.Line-1])
		}
	}
	var all []*report.Finding
	for _, f := range found.All() {
		switch {
		case f.Fault != side, f.Strength < conform.Hurts, f.Rule.ID == report.Watch.ID, slices.Contains(owns, f.Rule.ID), slices.Contains(judged, f.Seq):
		case missed && slices.Contains(unanswered, f.Rule.ID):
		case slices.ContainsFunc(f.Because, func(seq uint64) bool { return slices.Contains(provoked, seq) }):
		default:
			public := report.Publish(f, quoted(t, append([]uint64{f.Seq}, f.Because...)...)...)
			all = append(all, &report.Finding{Finding: *f, BecauseLines: make([]int, len(f.Because)), Public: public})
		}
	}
	return all, nil
}

// quoted returns the frames that a report may quote.
func quoted(t *record.Tape, frames ...uint64) (all []redact.Bytes) {
	for _, seq := range frames {
		if f, err := t.Frame(seq); err == nil {
			all = append(all, redact.Bytes{Kind: f.Kind, Raw: f.Raw})
		}
	}
	return all
}

// publish records what may leave this machine from a result. lines are the sequence numbers of
// the peer's frames.
func (res *Result) publish(t *record.Tape, outcomes []script.Outcome, lines []uint64) {
	var frames []uint64
	for i := range outcomes {
		if o := &outcomes[i]; o.Line > 0 && o.Line <= len(lines) && (o.Got == res.Got || slices.Contains(res.Told, o.Got)) {
			frames = append(frames, lines[o.Line-1])
		}
	}
	about := quoted(t, frames...)
	res.public.got = redact.Quoted(res.Got, about...)
	for _, text := range res.Told {
		res.public.told = append(res.public.told, redact.Quoted(text, about...))
	}
}

// group groups the findings on the tapes of all results by rule and strength.
func (r *Report) group() {
	for i := range r.Results {
		res := &r.Results[i]
		for _, f := range res.found {
			at := slices.IndexFunc(r.Findings, func(g Finding) bool { return g.Rule == f.Rule && g.Strength == f.Strength })
			if at < 0 {
				at = len(r.Findings)
				r.Findings = append(r.Findings, Finding{Finding: f, First: res, told: r.owner(f.Rule.ID)})
				f.Known = true
			}
			g := &r.Findings[at]
			if g.Known = g.Known && res.New; !slices.Contains(g.Cases, res.Case.ID) {
				g.Cases = append(g.Cases, res.Case.ID)
			}
		}
	}
}

// owner returns the first failed result whose case owns rule, or nil.
func (r *Report) owner(rule string) *Result {
	for i := range r.Results {
		if res := &r.Results[i]; res.Fault != nil && slices.Contains(res.Case.Owns, rule) {
			return res
		}
	}
	return nil
}
