package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/tapeid"
	"github.com/acptap/acptap/replay/script"
)

// A Runner plays cases to a peer. Each case gets its own process and directory.
type Runner struct {
	Kind    Kind
	Command []string           // the peer
	Peer    func() *proxy.Peer // creates the peer for each case in place of Command; for tests
	Cases   []*Case
	Store   *record.Store // receives the tapes, whose names begin with the name of the run

	Dialects []dialect.Dialect // to be tested; empty: all that the peer speaks
	Revision string            // of MCP; empty: 2025-11-25
	Login    string            // the login method to use, if any
	Call     map[string]any    // params of tools/call for a tool that cases may call, or nil
	Prompts  int               // how many cases may send a prompt to a real model
	Model    Model             // the scripted model, or nil
	Jobs     int               // number of cases that run in parallel; 0 is 2
	Start    time.Duration     // limits each answer of the first contact; 0 is 60 s
	Patience time.Duration     // limits other answers; 0: 20 times the first one, 10 to 60 s
	Limit    time.Duration     // limits one case; 0 is 5 min
	Grace    time.Duration     // for each step to the exit of an idle peer; 0 is 1 s
	Cwd      string            // parent of the directories of sessions; empty: a temporary one
	Env      []string          // added to the peer's environment
	Version  string            // of acptap
	AsOf     string            // cases added after this month, such as 2026-12, count as new; empty: none do

	// EchoServer is the command of the MCP server that cases offer to agents. The server logs
	// what it sees to the file named by its last argument. If empty, such cases are not tried.
	EchoServer []string

	// AgentCommand is the command that runs PlayAgent for a client, without its last argument.
	AgentCommand []string
	// Ask asks a person to do with the client what a case requires; its argument is nil for
	// the first contact. A nil Ask means that the client prompts by itself.
	Ask func(*Case)

	Done func(*Result) // called after each case, never concurrently; may be nil

	scripted *scriptedClient // replaces Command if not nil

	run     string
	dir     string
	met     map[dialect.Dialect]*meeting
	report  *Report
	mu      sync.Mutex
	prompts int
}

// A meeting is what the first contact in one dialect showed.
type meeting struct {
	captures script.Captures // init, and also new and sid if a session could be created
	wall     bool            // the peer requires a login
	deaf     bool            // it answers neither unknown requests nor, in MCP, ping
	unasked  string          // why the cases for a model are not tried; empty: they are
	first    time.Duration   // until the first answer; for a client, until it started its agent
	exits    bool            // the client exits by itself after a turn
	shows    bool            // the client writes the agent's text to stdout
}

// Errors of Run. If the peer cannot be started, the error is a *StartError.
var (
	ErrNoCase = errors.New("no case could be tried")
	ErrStuck  = errors.New("acptap could not do its part")
)

// LoginNeeded is the reason for skipping a case if the peer requires a login.
const LoginNeeded = "login needed"

// A StartError reports that acptap could not make contact with the peer.
type StartError struct {
	Problem string
	Stderr  []string // the last lines of its stderr

	unstarted bool // no process was started
}

func (e *StartError) Error() string { return e.Problem }

// Run plays all cases. If it returns an error, the Report holds the results up to then.
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

// lacks returns which requirement of a case is missing, or "". offered is false if the peer
// does not offer it.
func (r *Runner) lacks(t task) (why string, offered bool) {
	m := r.met[t.d]
	if t.c.Do != "" && r.Ask == nil {
		return "a person is needed (--wait)", true
	}
	if m.deaf && t.c.asks {
		return unheard, true
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

// has reports whether the peer announced what path names, either below its capabilities or in
// its answer to session/new.
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

// once plays a case a single time.
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
	if s := t.c.steps[t.d]; r.met[t.d].deaf && res.Outcome == OK && len(withoutAlive(s).Steps) < len(s.Steps) {
		res.Outcome, res.Got = NotTried, unheard
	}
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
	steps := t.c.steps[t.d]
	if r.met[t.d].deaf {
		steps = withoutAlive(steps)
	}
	outcomes := s.player(r, steps, t.d, r.met[t.d]).Play(ctx)
	tape, err := s.end()
	if s.speaker != nil {
		res.lacks = s.speaker.Lacks()
	}
	return outcomes, tape, err
}

// nameOf returns a name without slashes for a case, with its dialect if the peer speaks
// several.
func (r *Runner) nameOf(t task) string {
	name := strings.ReplaceAll(t.c.ID, "/", ".")
	if len(r.met) > 1 {
		name += "." + scopeName(t.d)
	}
	return name
}
