package script

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Player plays one side of a Script, once. Its methods must be called from one goroutine.
//
// While it waits, it answers requests that no step answers: as On steps say, or else as most
// programs do.
type Player struct {
	Script   *Script
	Dialect  dialect.Dialect
	Side     wire.Direction // of the messages that the Player sends
	Patience time.Duration  // limits each wait whose step names no limit; 0: no limit
	Captures Captures       // values known before the first step; may be nil

	Out io.Writer     // receives what the Player sends
	Err io.Writer     // receives the text of Stderr steps; may be nil
	In  <-chan []byte // lines of the other side; closed when it closes its output

	Process Process // the other side's process; nil: steps about it stay Untried
	Setting Setting // the other side's environment; nil: steps about it stay Untried

	Settled func(Outcome) // called at the end of each wait; may be nil

	Exit int // the status of the last Exit step

	inbox      []message
	lines      int // number of lines received
	taken      int // number of the newest message that a step has matched
	ended      bool
	sent       []request
	unanswered map[string]bool // IDs of requests in sent
	questions  []question      // open questions
	answered   []question      // answered by steps
	byHand     map[string]int  // by method: how many requests of the other side the steps answer
	answers    map[string]Step
	permit     string
	counts     map[string]int // by method: how many requests were answered without a step
	exited     bool
}

// A Process is the other side's process.
type Process interface {
	CloseInput()
	Signal(name string) error
	Exited() <-chan struct{}
	// Children names the processes that it has left behind.
	Children() []string
}

// A Setting provides what steps need in addition to the peer.
type Setting interface {
	// Servers returns the entries of MCP servers for the next session.
	Servers(kinds []string) (entries any, err error)
	// Echo waits until the servers have seen words or ctx is done, and returns the missing
	// ones.
	Echo(ctx context.Context, words []string) (missing []string, err error)
	// Model sets the model's next answer.
	Model(words []string) error
}

// A message is a message from the other side.
type message struct {
	line  int // number of its line, from 1
	raw   []byte
	e     wire.Envelope
	taken bool
}

// A request is a request that the Player sent.
type request struct {
	name, method, id string
}

// A question is a request of the other side that a step has to answer.
type question struct {
	name, method, id string
	params           wire.JSON
}

// A State is how a wait ended.
type State uint8

// The states.
const (
	Untried State = iota // not reached, or not possible here
	Met
	Missed
)

// An Outcome is the result of one step's wait.
type Outcome struct {
	Step  *Step
	State State
	Got   string // what came instead, or why the step was not tried; for the tier Tell, what came
	Line  int    // the line of the other side that decided it, from 1; 0: none
	Late  bool   // it timed out: a retry on an idle machine may succeed
	Code  string // of the error that came
}

// Play plays all steps and returns the Outcomes of those that wait, in order. It stops early
// when ctx is done, the other side is gone, or a wait fails on which later steps depend. The
// remaining steps are then Untried.
func (p *Player) Play(ctx context.Context) []Outcome {
	p.prepare()
	var all []Outcome
	settle := func(o Outcome) {
		all = append(all, o)
		if p.Settled != nil {
			p.Settled(o)
		}
	}
	over := ""
	for i := range p.Script.Steps {
		s := &p.Script.Steps[i]
		if over != "" {
			if s.Waits(p.Side) {
				settle(Outcome{Step: s, Got: over})
			}
			continue
		}
		if !s.Waits(p.Side) {
			over = p.do(ctx, s)
			continue
		}
		o := p.await(ctx, s)
		settle(o)
		switch {
		case o.State == Missed && s.Tier == Control:
			over = "the step before it failed: " + o.Got
		case o.Late && s.Verb != None && s.Verb != Children && s.Tier != Tell:
			over = "nothing came before it"
		}
	}
	return all
}

// Serve answers requests until the other side closes its output or ctx is done.
func (p *Player) Serve(ctx context.Context) {
	for !p.exited && p.receive(ctx, nil) {
	}
}

// prepare counts the requests of the other side that steps answer.
func (p *Player) prepare() {
	if p.Captures == nil {
		p.Captures = Captures{}
	}
	p.byHand, p.answers, p.counts, p.unanswered = map[string]int{}, map[string]Step{}, map[string]int{}, map[string]bool{}
	var open []*Step
	for i := range p.Script.Steps {
		s := &p.Script.Steps[i]
		switch {
		case s.Verb == Request && s.Dir != p.Side:
			open = append(open, s)
			if p.Side == wire.AgentToClient {
				p.byHand[s.Method]++ // only a step may answer it
			}
		case (s.Verb == Result || s.Verb == Error) && s.Dir == p.Side && p.Side == wire.ClientToAgent && len(open) > 0:
			p.byHand[open[0].Method]++
			open = open[1:]
		}
	}
	side := "answers client"
	if p.Side == wire.AgentToClient {
		side = "answers agent"
	}
	text, _ := section(side, p.Dialect)
	usual, err := Parse("usual.txt", text, p.Dialect)
	if err != nil {
		panic(err) // a test parses all of them
	}
	for _, s := range usual.Steps {
		p.on(s)
	}
}

// on records how to answer requests from now on.
func (p *Player) on(s Step) {
	if s.Method == "permission" {
		p.permit = s.Words[0]
		return
	}
	p.answers[s.Method] = s
}

// do performs a step that does not wait. It returns why the script cannot go on, or "".
func (p *Player) do(ctx context.Context, s *Step) (over string) {
	var err error
	switch s.Verb {
	case Request, Notify, Pad:
		err = p.ask(s)
	case Many:
		for range s.Count {
			if err = p.ask(s); err != nil {
				break
			}
		}
	case Result, Error:
		err = p.reply(s)
	case Message:
		err = p.whole(s)
	case Raw:
		p.write(s.Bytes)
	case Pieces:
		err = p.pieces(ctx, s)
	case On:
		p.on(*s)
	case EOF:
		if p.Process != nil {
			p.Process.CloseInput()
		} else if c, ok := p.Out.(io.Closer); ok {
			c.Close()
		}
	case Signal:
		if p.Process == nil {
			return "there is no process to signal"
		}
		err = p.Process.Signal(s.Words[0])
	case Stalls:
		err = sleep(ctx, s.Within)
	case Wait:
		limit := time.After(s.Within)
		for p.receive(ctx, limit) {
		}
		if p.ended && p.Side == wire.AgentToClient {
			select {
			case <-limit:
			case <-ctx.Done():
			}
		}
	case Forget:
		for i := range p.inbox {
			p.inbox[i].taken = true
		}
		p.taken = len(p.inbox)
	case Servers, Model:
		err = p.setting(s)
	case Stderr:
		if p.Err != nil {
			p.Err.Write(s.Bytes)
		}
	case Exit:
		p.Exit, p.exited = s.Count, true
		return "it has ended"
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (p *Player) setting(s *Step) (err error) {
	switch {
	case p.Setting == nil:
		return fmt.Errorf("no %s here", strings.Fields(s.Text)[0])
	case s.Verb == Model:
		return p.Setting.Model(s.Words)
	}
	p.Captures["servers"], err = p.Setting.Servers(s.Words)
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
