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
	"github.com/acptap/acptap/replay/script"
)

// linesOf returns the frames of a direction that are lines. missed says that the peer is
// acptap itself, which replays a tape that has no answer to what the case sent; replays that
// it replays one.
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

// unanswered are the rules about requests without an answer.
var unanswered = []string{"RPC018", "RPC026"}

// breaches returns what the rules find on the tape of a case: only what the peer did, no
// rule that the case owns, no note, and nothing about a frame that the case's own lines have
// judged, or that answers one with which the case itself broke a rule. If the case missed
// something, that an answer is missing says the same again.
func breaches(ctx context.Context, t *record.Tape, k Kind, owns []string, outcomes []script.Outcome, lines []uint64) ([]*conform.Finding, error) {
	found, err := tapecheck.Find(ctx, t)
	if err != nil {
		return nil, err
	}
	side, ours := conform.Agent, conform.Client
	if k == Client {
		side, ours = ours, side
	}
	var provoked []uint64 // our frames that broke a rule
	for _, f := range found.All() {
		if f.Fault == ours {
			provoked = append(provoked, f.Seq)
		}
	}
	missed := slices.ContainsFunc(outcomes, func(o script.Outcome) bool { return o.State == script.Missed })
	var judged []uint64 // frames of which the case has told that they are wrong
	for i := range outcomes {
		if o := &outcomes[i]; o.State == script.Missed && o.Line > 0 && o.Line <= len(lines) {
			judged = append(judged, lines[o.Line-1])
		}
	}
	var all []*conform.Finding
	for _, f := range found.All() {
		switch {
		case f.Fault != side, f.Strength < conform.Hurts, f.Rule.ID == report.Watch.ID, slices.Contains(owns, f.Rule.ID), slices.Contains(judged, f.Seq):
		case missed && slices.Contains(unanswered, f.Rule.ID):
		case slices.ContainsFunc(f.Because, func(seq uint64) bool { return slices.Contains(provoked, seq) }):
		default:
			all = append(all, f)
		}
	}
	return all, nil
}

// add adds findings of a case, grouped by rule and strength.
func (r *Report) add(found []*conform.Finding, id, tape string) {
	for _, f := range found {
		i := slices.IndexFunc(r.Findings, func(g Finding) bool { return g.Rule == f.Rule && g.Strength == f.Strength })
		if i < 0 {
			i = len(r.Findings)
			r.Findings = append(r.Findings, Finding{Finding: f, Tape: tape})
		}
		if g := &r.Findings[i]; !slices.Contains(g.Cases, id) {
			g.Cases = append(g.Cases, id)
		}
	}
}
