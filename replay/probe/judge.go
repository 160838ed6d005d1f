package probe

import (
	"context"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/script"
)

// judge turns the outcomes of a script's waits into that of the case. late says that a wait
// which decides was too short.
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
			return late || o.Late && o.Step.Verb != script.Echo // which has nothing to do with what else runs
		case tier == script.Control:
		case o.State == script.Untried && res.Outcome == OK: // what a case has not shown it does not claim
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

// unheard is why a case is not tried with a peer that does not answer the requests by which
// the case sees that it is alive. The case unknown/extension, or ping, says so once.
const unheard = "it answers no request that shows that it is alive"

// withoutAlive returns the steps without the question whether the peer is alive.
func withoutAlive(s *script.Script) *script.Script {
	return &script.Script{Steps: slices.DeleteFunc(slices.Clone(s.Steps), func(s script.Step) bool { return s.Name == "alive" })}
}

// noAnswer is why a case is not tried with a tape that acptap replays.
const noAnswer = "the tape that it replays has no answer"

// authRequired is the code of the error of an agent that wants a login (ACP v1, Authentication).
const authRequired = "-32000"

// told describes what came where a case only tells.
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

// find judges the tape by the rules, and turns lines of the peer into frames.
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
	if replays { // what it says was for another client
		return nil
	}
	res.found, err = breaches(ctx, tape, r.Kind, t.c.Owns, outcomes, lines)
	return err
}
