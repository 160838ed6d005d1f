package probe

import (
	"context"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/script"
)

// judge sets the case's outcome from the outcomes of its waits. late reports whether a
// decisive wait timed out.
func (res *Result) judge(outcomes []script.Outcome) (late bool) {
	res.Outcome = OK
	for i := range outcomes {
		o := &outcomes[i]
		tier := o.Step.Tier
		switch {
		case tier == script.Control && o.State != script.Met && (res.Outcome == OK || res.Outcome == Told):
			res.Outcome, res.Step, res.Got = NotTried, o.Step, o.Got
			if o.Code == authRequired {
				res.Step, res.Got = nil, LoginNeeded
			}
			return late || o.Late && o.Step.Verb != script.Echo // for Echo, load on the machine makes no difference
		case tier == script.Control:
		case o.State == script.Untried && res.Outcome == OK: // a case that did not finish proves nothing
			res.Outcome, res.Step, res.Got = NotTried, o.Step, o.Got
		case o.State == script.Untried:
		case tier == script.Tell:
			res.Told = append(res.Told, told(o))
			if res.Outcome == OK {
				res.Outcome = Told
			}
		case o.State == script.Missed:
			if out := outcome(tier); out > res.Outcome || res.Step == nil {
				res.Outcome, res.Step, res.Got = out, o.Step, o.Got
				late = o.Late
			}
			if o.Line > 0 {
				res.Frames = append(res.Frames, uint64(o.Line))
			}
		}
	}
	return late
}

// unheard is the reason for skipping a case that checks that the peer is alive, if the peer
// answers none of the requests for that. The case unknown/extension or ping reports this once.
const unheard = "it answers no request that shows that it is alive"

// withoutAlive returns the steps without those that check that the peer is alive.
func withoutAlive(s *script.Script) *script.Script {
	return &script.Script{Steps: slices.DeleteFunc(slices.Clone(s.Steps), func(s script.Step) bool { return s.Name == "alive" })}
}

// noAnswer is the reason for skipping a case whose request the replayed tape cannot answer.
const noAnswer = "the tape that it replays has no answer"

// authRequired is the error code of an agent that requires a login (ACP v1, Authentication).
const authRequired = "-32000"

// told describes what arrived at a step that only reports.
func told(o *script.Outcome) string {
	what := o.Got
	awaits := o.Step.Verb == script.Request || o.Step.Verb == script.Notify
	if o.Step.Verb == script.None && o.State == script.Met || awaits && o.Late {
		what = "no " + o.Step.Method
	}
	if o.Step.Name == "after" {
		what = "afterwards " + what
	}
	return what
}

// find applies the rules to the tape and maps the peer's lines to frames.
func (r *Runner) find(ctx context.Context, t task, res *Result, tape *record.Tape, outcomes []script.Outcome) error {
	side := wire.AgentToClient
	if r.Kind == Client {
		side = wire.ClientToAgent
	}
	lines, missed, replays, err := linesOf(tape, side)
	if err != nil {
		return err
	}
	if missed && res.Outcome != Stuck {
		res.Outcome, res.Step, res.Told, res.Frames = NotTried, nil, nil, nil
		res.Got = noAnswer
	}
	for i, line := range res.Frames {
		if line <= uint64(len(lines)) {
			res.Frames[i] = lines[line-1]
		}
	}
	res.publish(tape, outcomes, lines)
	if replays { // the tape answers another client
		return nil
	}
	res.found, err = breaches(ctx, tape, r.Kind, t.c.Owns, outcomes, lines)
	return err
}
