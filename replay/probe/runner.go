package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/tapeid"
	"github.com/acptap/acptap/replay/script"
)

// A Runner plays cases to a peer. Each case gets a process and a directory of its own.
type Runner struct {
	Kind    Kind
	Command []string           // the peer
	Peer    func() *proxy.Peer // a fresh one for each case, in place of Command; for tests
	Cases   []*Case
	Store   *record.Store // gets the tapes; their names begin with the run's

	Dialects []dialect.Dialect // those to test; empty: all that the peer speaks
	Revision string            // of MCP; empty: 2025-11-25
	Login    string            // the login method to use; empty: none is used
	Call     map[string]any    // params of tools/call for a tool that cases may call; nil: none
	Prompts  int               // how many cases may send a prompt that a model answers
	Model    Model             // says what a script wants the model to say; nil: nothing does
	Jobs     int               // cases at once; 0 is 2
	Start    time.Duration     // limits the first answer; 0 is 60 s
	Patience time.Duration     // limits other answers; 0: 20 times the first one, 10 to 60 s
	Limit    time.Duration     // limits one case; 0 is 5 min
	Grace    time.Duration     // how long a peer that has nothing left to do may take for each step to its end; 0 is 1 s
	Cwd      string            // parent of the directories of sessions; empty: a temporary one
	Env      []string          // added to the peer's environment
	Version  string            // of acptap
	AsOf     string            // the month, such as 2026-12, from whose end on cases are new; empty: none are

	// EchoServer is the command of the MCP server that cases offer to agents; what it saw goes
	// to the file that its last argument names. Empty: such cases are not tried.
	EchoServer []string

	// AgentCommand is the command of PlayAgent, without its last argument, for clients.
	AgentCommand []string
	// PlayClient returns a client within this process, in place of Command, for the case with
	// an id, or "hello"; dir is for PlayAgent. For tests.
	PlayClient func(id, dir string) *proxy.Peer
	// Ask asks a person to do with the client what a case takes; nil for the first contact.
	// If it is nil, the client starts its agent and prompts by itself.
	Ask func(*Case)

	Done func(*Result) // is called after each case, one at a time; may be nil

	run     string
	dir     string
	met     map[dialect.Dialect]*meeting
	report  *Report
	mu      sync.Mutex
	prompts int
}

// A meeting is what the first contact in a dialect showed.
type meeting struct {
	captures script.Captures // init, and new and sid if a session could be made
	wall     bool            // the peer wants a login
	unasked  string          // why cases for a model are not tried; empty: they are
	first    time.Duration   // the time of the first answer; of a client, until it started its agent
	exits    bool            // the client ends by itself after a turn
	shows    bool            // it writes to stdout what the agent says
}

// Errors of Run. An error of the peer's start is a *StartError.
var (
	ErrNoCase = errors.New("no case could be tried")
	ErrStuck  = errors.New("acptap could not do its part")
)

// LoginNeeded is why a case was not tried if the peer wants a login.
const LoginNeeded = "login needed"

// A StartError says that the peer could not be met.
type StartError struct {
	Problem string
	Stderr  []string // the last lines that it wrote there
}

func (e *StartError) Error() string { return e.Problem }

// Run plays all cases. The Report is there even with an error, as far as it goes.
func (r *Runner) Run(ctx context.Context) (*Report, error) {
	began := time.Now()
	r.run = "probe-" + tapeid.New(began)
	if i := strings.LastIndexByte(r.run, '-'); i > 0 {
		r.run = "probe-" + r.run[i+1:]
	}
	r.report = &Report{Run: r.run, Kind: r.Kind, Command: r.Command}
	r.met = map[dialect.Dialect]*meeting{}
	dir, err := os.MkdirTemp(r.Cwd, "acptap-probe-")
	if err != nil {
		return r.report, err
	}
	defer os.RemoveAll(dir)
	if r.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return r.report, err
	}
	if err := r.meet(ctx); err != nil {
		return r.report, err
	}
	r.play(ctx)
	r.report.Seconds = time.Since(began).Seconds()
	switch {
	case ctx.Err() != nil:
		return r.report, context.Cause(ctx)
	case r.report.Count(Stuck) > 0:
		return r.report, ErrStuck
	case r.report.Count(NotTried)+r.report.Count(NotOffered) == len(r.report.Results):
		return r.report, ErrNoCase
	}
	return r.report, nil
}

// A task is a case in a dialect.
type task struct {
	c *Case
	d dialect.Dialect
}

// play plays the cases: those that watch processes and times alone, after the others.
func (r *Runner) play(ctx context.Context) {
	var crowd, alone []task
	for _, c := range r.Cases {
		for _, d := range c.For {
			if r.met[d] == nil {
				continue
			}
			if c.Alone {
				alone = append(alone, task{c, d})
			} else {
				crowd = append(crowd, task{c, d})
			}
		}
	}
	results := map[task]*Result{}
	again := r.several(ctx, crowd, cmp.Or(r.Jobs, 2), results, nil)
	slow := map[task]bool{}
	for _, t := range again {
		slow[t] = true
	}
	r.several(ctx, append(alone, again...), 1, results, slow)
	for _, c := range r.Cases {
		r.report.Results = append(r.report.Results, r.resultsOf(c, results)...)
	}
	for i := range r.report.Results {
		res := &r.report.Results[i]
		res.New = r.AsOf != "" && res.Case.Since > r.AsOf
		res.accuse(r.Kind)
	}
	r.report.group()
}

// resultsOf returns the results of a case, at least one if it is for a wanted dialect.
func (r *Runner) resultsOf(c *Case, results map[task]*Result) (all []Result) {
	var unspoken []dialect.Dialect
	for _, d := range c.For {
		switch res := results[task{c, d}]; {
		case res != nil:
			all = append(all, *res)
		case r.met[d] != nil: // the run was interrupted
			all = append(all, without(c, d, NotTried, "interrupted"))
		case len(r.Dialects) == 0 || slices.Contains(r.Dialects, d):
			unspoken = append(unspoken, d)
		}
	}
	if len(all) == 0 && len(unspoken) > 0 {
		all = append(all, without(c, unspoken[0], NotOffered, "it does not speak "+dialectList(unspoken)))
	}
	return all
}

// without returns the result of a case that was not played.
func without(c *Case, d dialect.Dialect, o Outcome, why string) Result {
	res := Result{Case: c, Dialect: d, Outcome: o, Got: why, Runs: 1, Times: 1}
	res.public.got = why
	return res
}

// several plays tasks, n at once. It returns those whose outcome rests on time, to be tried
// alone, unless n is 1. slow are those that are tried again.
func (r *Runner) several(ctx context.Context, tasks []task, n int, results map[task]*Result, slow map[task]bool) (again []task) {
	queue := make(chan task)
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			for t := range queue {
				res, late := r.one(ctx, t)
				r.mu.Lock()
				if late && n > 1 {
					again = append(again, t)
				} else {
					res.Slow = slow[t]
					results[t] = res
					if r.Done != nil {
						r.Done(res)
					}
				}
				r.mu.Unlock()
			}
		})
	}
	for _, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		queue <- t
	}
	close(queue)
	workers.Wait()
	slices.SortFunc(again, func(a, b task) int { return cmp.Or(cmp.Compare(a.c.ID, b.c.ID), cmp.Compare(a.d, b.d)) })
	return again
}

// one plays a case as often as it says, and returns the worst result. late says that it
// rests on time.
func (r *Runner) one(ctx context.Context, t task) (worst *Result, late bool) {
	began := time.Now()
	if why, offered := r.lacks(t); why != "" {
		res := without(t.c, t.d, NotTried, why)
		if !offered {
			res.Outcome = NotOffered
		}
		return &res, false
	}
	counts := map[Outcome]int{}
	for range t.c.Repeat {
		res, isLate := r.once(ctx, t)
		counts[res.Outcome]++
		late = late || isLate
		if worst == nil || res.Outcome > worst.Outcome {
			worst = res
		}
		if ctx.Err() != nil {
			break
		}
	}
	worst.Runs, worst.Times = t.c.Repeat, counts[worst.Outcome]
	worst.Seconds = time.Since(began).Seconds()
	return worst, late
}

// lacks says what a case needs and is not there. offered is false if the peer does not offer
// it.
func (r *Runner) lacks(t task) (why string, offered bool) {
	m := r.met[t.d]
	if t.c.Do != "" && r.Ask == nil {
		return "a person is needed (--wait)", true
	}
	for _, need := range t.c.Needs {
		switch need {
		case "linux":
			if !seesChildren {
				return "processes cannot be watched on " + runtime.GOOS, true
			}
		case "model":
			if r.Model == nil {
				return "no model (--model)", true
			}
			if m.unasked != "" {
				return m.unasked, true
			}
		case "call":
			if r.Call == nil {
				return "no tool to call (--call)", true
			}
		case "servers":
			if len(r.EchoServer) == 0 {
				return "no MCP server to offer", true
			}
		case "exits":
			if !m.exits {
				return "it does not end by itself", true
			}
		case "shows":
			if !m.shows {
				return "its stdout does not show what the agent says", true
			}
		case "login":
			if len(r.report.Login) == 0 {
				return "it offers no login", false
			}
		case "wall":
			if !m.wall {
				return "it wants no login", false
			}
		case "session":
			if m.wall {
				return LoginNeeded, true
			}
		case "prompts":
			if r.Kind != Server {
				if !r.mayPrompt() {
					return "no model (--model, --prompts)", true
				}
				if m.unasked != "" {
					return m.unasked, true
				}
				break
			}
			fallthrough // a capability
		default:
			name, not := strings.CutPrefix(need, "!")
			if is := has(m.captures, name, t.d); is && not {
				return "it offers " + name, false
			} else if !is && !not {
				return "it does not offer " + name, false
			}
		}
	}
	return "", true
}

func (r *Runner) mayPrompt() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Model == nil && r.prompts >= r.Prompts {
		return false
	}
	r.prompts++
	return true
}

// has reports whether the peer said that it can do what a path names: below its
// capabilities, or in the answer to session/new.
func has(c script.Captures, path string, d dialect.Dialect) bool {
	at := "init.capabilities."
	if d == dialect.ACPv1 {
		at = "init.agentCapabilities."
	}
	v, ok := c.Lookup(at + path)
	if !ok {
		v, ok = c.Lookup("init.clientCapabilities." + path)
	}
	if !ok {
		v, ok = c.Lookup("new." + path)
	}
	list, isList := v.([]any)
	return ok && v != nil && v != false && !(isList && len(list) == 0)
}

// once plays a case once.
func (r *Runner) once(ctx context.Context, t task) (res *Result, late bool) {
	res = &Result{Case: t.c, Dialect: t.d, Name: r.run + "." + r.nameOf(t)}
	stuck := func(err error) (*Result, bool) {
		res.Outcome, res.Got = Stuck, err.Error()
		res.public.got = redact.Quoted(res.Got)
		return res, false
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(r.Limit, 5*time.Minute))
	defer cancel()
	act := r.act
	if r.Kind == Client {
		act = r.actClient
	}
	outcomes, tape, err := act(limited, t, res)
	switch {
	case err != nil:
		return stuck(err)
	case tape == nil:
		res.Outcome, res.Got, res.Name = NotTried, "it did not start its agent", ""
		return res, true
	}
	res.Tape = tape.ID()
	late = res.judge(outcomes)
	if res.lacks != "" {
		res.Outcome, res.Step, res.Got, res.Told, res.Frames, late = NotTried, nil, res.lacks, nil, nil, false
	}
	if limited.Err() != nil && ctx.Err() == nil {
		res.Outcome, res.Got = Stuck, fmt.Sprintf("it took over %v", cmp.Or(r.Limit, 5*time.Minute))
	}
	err = r.find(ctx, t, res, tape, outcomes)
	switch {
	case ctx.Err() != nil:
		one := without(t.c, t.d, NotTried, "interrupted")
		return &one, false
	case err != nil:
		return stuck(err)
	}
	return res, late && res.Got != noAnswer
}

// act plays a case to an agent or a server.
func (r *Runner) act(ctx context.Context, t task, res *Result) ([]script.Outcome, *record.Tape, error) {
	s, err := r.newStage(t.c.ID, res.Name, t.c.steps[t.d])
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	outcomes := s.player(r, t.c.steps[t.d], t.d, r.met[t.d]).Play(ctx)
	tape, err := s.end()
	if s.speaker != nil {
		res.lacks = s.speaker.Lacks()
	}
	return outcomes, tape, err
}

// nameOf names a case, and its dialect if the peer speaks several, without slashes.
func (r *Runner) nameOf(t task) string {
	name := strings.ReplaceAll(t.c.ID, "/", ".")
	if len(r.met) > 1 {
		name += "." + scopeName(t.d)
	}
	return name
}

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
