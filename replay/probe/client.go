package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/script"
)

// AgentVariable names the environment variable that holds the program a client must start as
// its agent. The same program replaces agentWord in the client's arguments.
const (
	AgentVariable = "ACPTAP_AGENT"
	agentWord     = "{agent}"
)

// A client is a client under test in one case: a process that starts PlayAgent.
type client struct {
	cwd    string // its working directory
	dir    string // the agent's directory
	mark   string
	cancel context.CancelFunc
	exited chan struct{} // closed when the client has exited; err is set before
	err    error
	stdout kept
	stderr kept
}

// kept keeps the first bytes that a process writes.
type kept struct {
	mu   sync.Mutex
	data []byte
}

// mostKept is ample for what a client prints in a case. Some clients, when nobody answers
// their question, repeat it forever.
const mostKept = 1 << 20

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.data = append(k.data, p[:min(len(p), mostKept-len(k.data))]...)
	return len(p), nil
}

func (k *kept) has(text []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.Contains(k.data, text)
}

// lines returns the last n lines.
func (k *kept) lines(n int) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	lines := strings.Split(strings.TrimRight(string(k.data), "\n"), "\n")
	return slices.DeleteFunc(lines[max(0, len(lines)-n):], func(s string) bool { return s == "" })
}

// startClient starts the client for the case with this ID.
func (r *Runner) startClient(ctx context.Context, id string, p part) (*client, error) {
	base, err := os.MkdirTemp(r.dir, strings.ReplaceAll(id, "/", "-")+"-")
	if err != nil {
		return nil, err
	}
	c := &client{
		cwd: filepath.Join(base, "cwd"), dir: filepath.Join(base, "agent"),
		mark: filepath.Base(r.dir) + "/" + filepath.Base(base), exited: make(chan struct{}),
	}
	for _, dir := range []string{c.cwd, c.dir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	p.Store, p.Version, p.Command, p.Cwd = r.Store.Dir(), cmp.Or(r.Version, "probe"), r.Command, c.cwd
	p.Limit = cmp.Or(r.Limit, 5*time.Minute)
	program, err := p.write(c.dir, r.AgentCommand)
	if err != nil {
		return nil, err
	}
	run := proxy.Proxy{
		Dir: c.cwd, In: strings.NewReader(""), Out: &c.stdout, Err: &c.stderr, Patience: grace,
		Env: append(slices.Clone(r.Env), AgentVariable+"="+program, markName+"="+c.mark),
	}
	for _, word := range r.Command {
		run.Command = append(run.Command, strings.ReplaceAll(word, agentWord, program))
	}
	if r.scripted != nil {
		if run.Peer, err = r.scripted.peer(id, c.dir); err != nil {
			return nil, err
		}
	}
	ctx, c.cancel = context.WithCancel(ctx)
	go func() {
		c.err = run.Run(ctx)
		close(c.exited)
	}()
	return c, nil
}

// A showing is one run of a case with a client.
type showing struct {
	start                // the decisive start of the agent; its tape is nil if the client started none
	began  time.Duration // from the client's start to the agent's
	exited bool          // the client exited by itself
	err    error         // how the client exited
	status int
	client *client
}

// show runs the client in one case.
func (r *Runner) show(ctx context.Context, id string, steps *script.Script, p part) (*showing, error) {
	c, err := r.startClient(context.WithoutCancel(ctx), id, p)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(c.dir))
	s := &showing{client: c}
	over, err := s.watch(ctx, r, id, steps, p.Patience)
	c.cancel()
	<-c.exited
	if err == nil {
		s.start, err = s.awaitAgents(r.Store, steps)
	}
	killMarked(c.mark)
	if err != nil {
		return nil, err
	}
	if !over {
		for i := range s.outcomes {
			s.outcomes[i].State, s.outcomes[i].Got = script.Untried, "it was interrupted"
		}
		return s, nil
	}
	s.err = c.err
	var exit *proxy.ExitError
	if errors.As(c.err, &exit) {
		s.status = exit.Code
	}
	s.settle()
	return s, nil
}

// decisive returns the most informative start: one without a failed control, preferably one
// that missed nothing. A client may start an agent only to read its capabilities.
func decisive(all []start) (best start) {
	most := -1
	for i := range all {
		rank := 0
		if !all[i].failed() {
			rank = 1
			if !slices.ContainsFunc(all[i].outcomes, func(o script.Outcome) bool { return o.State == script.Missed }) {
				rank = 2
			}
		}
		if rank > most {
			most, best = rank, all[i]
		}
	}
	return best
}

// failed reports whether a control on what the client sends has failed.
func (s *start) failed() bool {
	return slices.ContainsFunc(s.outcomes, func(o script.Outcome) bool {
		return o.Step.Tier == script.Control && o.State != script.Met && o.Step.Verb != script.Shows
	})
}

// watch blocks until the client has exited, has not started its agent in time, or has played
// the whole case and used up its time to exit. over is false if ctx was done first.
func (s *showing) watch(ctx context.Context, r *Runner, id string, steps *script.Script, patience time.Duration) (over bool, err error) {
	began := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(cmp.Or(r.Start, time.Minute))
	defer limit.Stop()
	starts := 0
	for {
		select {
		case <-s.client.exited:
			s.exited = true
			return true, nil
		case <-limit.C:
			return over || starts == 0, nil
		case <-ctx.Done():
			return false, nil
		case <-tick.C:
		}
		all, err := readStarts(s.client.dir, steps)
		if err != nil {
			return false, err
		}
		if len(all) > starts {
			if starts == 0 {
				s.began = time.Since(began)
			}
			starts, over = len(all), false
			limit.Reset(cmp.Or(r.Limit, 5*time.Minute))
		}
		live := r.Store.Live()
		done := func(s start) bool {
			return s.complete() || s.tape != "" && !slices.Contains(live, s.tape)
		}
		if !over && starts > 0 && !slices.ContainsFunc(all, func(s start) bool { return !done(s) }) {
			over = true
			limit.Reset(afterwards(id, steps, decisive(all), patience))
		}
	}
}

// afterwards returns how long a client may take to exit or to start another agent after its
// agents have played all steps.
func afterwards(id string, steps *script.Script, s start, patience time.Duration) time.Duration {
	most := 2 * time.Second
	switch {
	case id == helloID: // find out whether it exits by itself
		most = 15 * time.Second
	case s.failed():
		most = patience
	}
	for i := range steps.Steps {
		switch s := &steps.Steps[i]; s.Verb {
		case script.Exits:
			most = max(most, s.Within)
		case script.Shows:
			most = max(most, 5*time.Second)
		}
	}
	return most
}

// awaitAgents waits until the agents of an exited client have exited too, and returns the
// decisive start.
func (s *showing) awaitAgents(store *record.Store, steps *script.Script) (start, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(5 * time.Second)
	for late := false; ; {
		live := store.Live() // before the outcomes are read, so that none is missed
		all, err := readStarts(s.client.dir, steps)
		if err != nil {
			return start{}, err
		}
		running := false
		for i := range all {
			if a := &all[i]; a.tape == "" || slices.Contains(live, a.tape) {
				running = true
			} else {
				a.cut()
			}
		}
		if !running || late {
			return decisive(all), nil
		}
		select {
		case <-tick.C:
		case <-limit:
			late = true
		}
	}
}

// settle adds the outcomes of steps about the client's process, unless an earlier step failed.
func (s *showing) settle() {
	for i := range s.outcomes {
		o := &s.outcomes[i]
		switch {
		case o.Step.Verb == script.Exits && !s.exited:
			o.State, o.Got, o.Late = script.Missed, fmt.Sprintf("it still ran %v later", o.Step.Within), true
		case o.Step.Verb == script.Exits:
			o.State, o.Got = script.Met, fmt.Sprintf("it ended with status %d", s.status)
			if o.Step.Words != nil && s.status == 0 {
				o.State = script.Missed
			}
		case o.Step.Verb == script.Shows && s.client.stdout.has(o.Step.Bytes):
			o.State = script.Met
		case o.Step.Verb == script.Shows:
			o.State, o.Got, o.Late = script.Missed, "it did not show that", !s.exited
		case o.State != script.Met && o.Step.Tier != script.Tell:
			return
		}
	}
}

// meetClient makes the first contact with a client. It finds out what the client offers,
// whether it prompts and exits by itself, and whether it shows the agent's text.
func (r *Runner) meetClient(ctx context.Context, d dialect.Dialect) (*meeting, error) {
	steps, err := script.Parse("hello", helloClient, d, captures...)
	if err != nil {
		return nil, err
	}
	if r.Ask != nil {
		r.Ask(nil)
	}
	p := part{Name: r.run + ".hello", Dialect: d, Steps: helloClient, Patience: r.patience(nil)}
	s, err := r.show(ctx, helloID, steps, p)
	if err != nil {
		return nil, err
	}
	unmet := func(problem string) error { return &StartError{Problem: problem, Stderr: s.client.stderr.lines(20)} }
	if s.tape == "" {
		var failed *proxy.StartError
		switch {
		case errors.As(s.err, &failed):
			return nil, unmet(fmt.Sprintf("starting client %q: %v", failed.Agent, failed.Err))
		case s.exited:
			return nil, unmet(fmt.Sprintf("it ended with status %d, and had not started its agent (%s, or $%s)", s.status, agentWord, AgentVariable))
		}
		return nil, unmet(fmt.Sprintf("it did not start its agent in %v (%s, or $%s)", cmp.Or(r.Start, time.Minute), agentWord, AgentVariable))
	}
	tape, err := r.Store.Open(s.tape)
	if err != nil {
		return nil, err
	}
	m := &meeting{captures: script.Captures{}, first: s.began, exits: s.exited, shows: s.client.stdout.has([]byte(helloMarker))}
	if m.captures["init"], err = firstParams(tape, dialect.Initialize); err != nil {
		return nil, err
	}
	if m.captures["init"] == nil {
		return nil, unmet("it started its agent, and did not send it initialize")
	}
	r.introduce(m, d)
	if version, _ := m.captures.Lookup("init.protocolVersion"); fmt.Sprint(version) != "1" {
		return nil, nil
	}
	return m, nil
}

// helloClient is the script of the first contact with a client, in which the agent says
// helloMarker.
const (
	helloID     = "hello"
	helloMarker = "acptap-says-hello"
	helloClient = `> control session/prompt {"sessionId":{"$as":"sid"}}
< session/update {"sessionId":"${sid}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + helloMarker + `\n"}}}
< result {"stopReason":"end_turn"}
`
)

// firstParams returns the params of the client's first message with this method.
func firstParams(t *record.Tape, method string) (any, error) {
	for f, err := range t.Frames(1) {
		if err != nil {
			return nil, err
		}
		if f.Dir == wire.ClientToAgent && f.Kind == wire.Request {
			if e := wire.Scan(f.Raw); string(e.Method) == method {
				return script.Decode(e.Params)
			}
		}
	}
	return nil, nil
}

// actClient plays a case to a client. The tape is nil if the client did not start its agent.
func (r *Runner) actClient(ctx context.Context, t task, res *Result) ([]script.Outcome, *record.Tape, error) {
	if r.Ask != nil {
		r.Ask(t.c)
	}
	p := part{Name: res.Name, Dialect: t.d, Steps: t.c.texts[t.d], Patience: r.patience(r.met[t.d])}
	s, err := r.show(ctx, t.c.ID, t.c.steps[t.d], p)
	if err != nil || s.tape == "" {
		return nil, nil, err
	}
	tape, err := r.Store.Open(s.tape)
	return s.outcomes, tape, err
}
