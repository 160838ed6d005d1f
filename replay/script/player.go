package script

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A Player plays one side of a Script, once. Its methods are for one goroutine.
//
// While it waits it answers the requests of the other side that no step answers, as the
// steps of the verb On say, and otherwise as most programs do.
type Player struct {
	Script   *Script
	Dialect  dialect.Dialect
	Side     wire.Direction // of the messages that the Player sends
	Patience time.Duration  // limits each wait whose step names no limit; 0: none
	Captures Captures       // what is known before the first step; nil: nothing

	Out io.Writer     // takes what the Player sends
	Err io.Writer     // takes what steps of the verb Stderr write; nil: nobody
	In  <-chan []byte // the lines of the other side; closed at its end

	Process Process // the other side's process; nil: steps about it are not tried
	Setting Setting // what surrounds it; nil: steps about that are not tried

	Settled func(Outcome) // is called as each wait ends; may be nil

	Exit int // the status of the last step of the verb Exit

	inbox      []message
	lines      int // received
	taken      int // the newest message that a step has waited for, from 1
	ended      bool
	sent       []request
	unanswered map[string]bool // ids of sent
	questions  []question      // that are open
	answered   []question      // by steps
	byHand     map[string]int  // by method: how many requests of the other side steps answer
	answers    map[string]Step
	permit     string
	counts     map[string]int // by method: requests that were answered without a step
	exited     bool
}

// A Process is the other side as a process.
type Process interface {
	CloseInput()
	Signal(name string) error
	Exited() <-chan struct{}
	// Children names the processes that it has left; nil: none.
	Children() []string
}

// A Setting provides what steps need besides the peer.
type Setting interface {
	// Servers returns the entries of MCP servers for the next session.
	Servers(kinds []string) (entries any, err error)
	// Echo returns what the servers have not seen until ctx is done.
	Echo(ctx context.Context, words []string) (missing []string, err error)
	// Model sets what the model says next.
	Model(words []string) error
}

// A message is one that the other side sent.
type message struct {
	line  int // its line, from 1
	raw   []byte
	e     wire.Envelope
	taken bool
}

// A request is one that the Player sent.
type request struct {
	name, method, id string
}

// A question is a request of the other side that a step answers.
type question struct {
	name, method, id string
	params           wire.JSON
}

// State says how a wait ended.
type State uint8

// The states.
const (
	Untried State = iota // it did not come to that, or cannot be done here
	Met
	Missed
)

// An Outcome is how the wait of one step ended.
type Outcome struct {
	Step  *Step
	State State
	Got   string // what came instead of what was wanted, or why it was not tried; what came, of the tier Tell
	Line  int    // the line of the other side that settled it, from 1; 0: none did
	Late  bool   // nothing came in time: another try, with less else to do, may do better
	Code  string // of the error that came
}

// Play plays all steps, and returns the Outcomes of those that wait, in order. It stops
// early when ctx is done, the other side is gone, or a wait ended without what the steps
// after it build upon: then the rest is Untried.
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

// Serve answers requests until the other side has ended or ctx is done.
func (p *Player) Serve(ctx context.Context) {
	for !p.exited && p.receive(ctx, nil) {
	}
}

// prepare finds out which requests of the other side steps answer.
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
				p.byHand[s.Method]++ // it answers only if a step does
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
		panic(err) // a test reads them all
	}
	for _, s := range usual.Steps {
		p.on(s)
	}
}

// on remembers an answer to requests.
func (p *Player) on(s Step) {
	if s.Method == "permission" {
		p.permit = s.Words[0]
		return
	}
	p.answers[s.Method] = s
}

// do does a step that does not wait. It returns why the steps after it make no sense.
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

func (p *Player) write(data []byte) { _, _ = p.Out.Write(data) } // a wait shows that the other side is gone

func (p *Player) writeLine(data []byte) { p.write(append(data, '\n')) }

// ask sends a request or a notification.
func (p *Player) ask(s *Step) error {
	value := s.Value
	if !s.Given {
		value = parameters(s.Method, p.Dialect)
	}
	value, err := p.Captures.fill(value)
	if err != nil {
		return err
	}
	line := []byte(`{"jsonrpc":"2.0"`)
	if s.Verb != Notify && (s.Verb != Pad || form(s.Method, p.Dialect) == Request) {
		id := strconv.Itoa(len(p.sent) + 1)
		p.sent = append(p.sent, request{s.Name, s.Method, id})
		p.unanswered[id] = true
		line = append(line, `,"id":`+id...)
	}
	line = append(line, `,"method":`...)
	line = append(line, wire.Quote(s.Method)...)
	if s.Verb == Pad {
		value = padded(value, s.Count-len(line))
	}
	if value != nil {
		line = append(line, `,"params":`...)
		line = append(line, encode(value)...)
	}
	p.writeLine(append(line, '}'))
	return nil
}

// padded returns params with a member in _meta that makes a message longer by n bytes.
func padded(params any, n int) any {
	object, _ := params.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	meta, _ := object["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		object["_meta"] = meta
	}
	meta["acptap.dev/padding"] = ""
	n -= len(encode(object)) + len(`,"params":}`)
	meta["acptap.dev/padding"] = strings.Repeat("x", max(n, 0))
	return object
}

// reply answers a request of the other side: the one named, or for a client the oldest, for
// an agent the newest that is open.
func (p *Player) reply(s *Step) error {
	at := -1
	for i, q := range p.questions {
		switch {
		case s.Name != "" && q.name != s.Name:
		case at < 0 || p.Side == wire.AgentToClient:
			at = i
		}
	}
	for _, q := range p.answered {
		if at < 0 && s.Name != "" && q.name == s.Name {
			return p.answer(q, s) // once more
		}
	}
	if at < 0 {
		return fmt.Errorf("there was no request to answer in line %d", s.Line)
	}
	q := p.questions[at]
	p.questions, p.answered = append(p.questions[:at:at], p.questions[at+1:]...), append(p.answered, q)
	return p.answer(q, s)
}

// answer sends what a step says to a question.
func (p *Player) answer(q question, s *Step) error {
	if q.params != nil {
		if params, err := decode(q.params); err == nil {
			p.Captures["params"] = params
		}
	}
	value, err := p.Captures.fill(s.Value)
	if err != nil {
		return err
	}
	if s.Verb == Error || s.Verb == On && s.Words[0] == "error" {
		if value == nil {
			value = map[string]any{}
		}
		if s.Code != "" {
			object := value.(map[string]any)
			object["code"] = json.Number(s.Code)
			if _, there := object["message"]; !there {
				message, err := p.Captures.fillText(cmp.Or(string(s.Bytes), "an error, as the script says"))
				if err != nil {
					return err
				}
				object["message"] = message
			}
		}
		p.writeLine(wire.NewError([]byte(q.id), encode(value)))
		return nil
	}
	if !s.Given {
		value = map[string]any{}
	}
	p.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.id, encode(value)))
	return nil
}

// whole sends a message as it is given. jsonrpc is added if it is not there.
func (p *Player) whole(s *Step) error {
	value, err := p.Captures.fill(s.Value)
	if err != nil {
		return err
	}
	object := value.(map[string]any)
	if _, there := object["jsonrpc"]; !there {
		object["jsonrpc"] = "2.0"
	}
	p.writeLine(encode(object))
	return nil
}

func (p *Player) pieces(ctx context.Context, s *Step) error {
	for data := s.Bytes; len(data) > 0; {
		n := min(s.Count, len(data))
		if string(data[n:]) == "\n" {
			n++ // who reads without it would answer, on the tape, before it was asked
		}
		p.write(data[:n])
		data = data[n:]
		if err := sleep(ctx, s.Within); err != nil {
			return err
		}
	}
	return nil
}

// receive takes the next line, and returns false at the end, when ctx is done or when limit
// fires.
func (p *Player) receive(ctx context.Context, limit <-chan time.Time) bool {
	if p.ended {
		return false
	}
	select {
	case line, ok := <-p.In:
		if !ok {
			p.ended = true
			return false
		}
		p.take(line)
		return true
	case <-limit:
	case <-ctx.Done():
	}
	return false
}

// take adds the messages of a line, and answers those that no step does.
func (p *Player) take(line []byte) {
	p.lines++
	e := rpc.Scan(line)
	if e.Kind != wire.Batch {
		p.add(line, e)
		return
	}
	empty := true
	wire.Entries(line, func(_ int, entry []byte) bool {
		empty = false
		p.add(entry, rpc.Scan(entry))
		return true
	})
	if empty {
		p.add(line, e)
	}
}

func (p *Player) add(raw []byte, e wire.Envelope) {
	p.inbox = append(p.inbox, message{line: p.lines, raw: raw, e: e})
	if e.Method == nil {
		delete(p.unanswered, string(e.ID))
	}
	if e.Method == nil || e.ID == nil {
		return
	}
	q := question{method: string(e.Method), id: string(bytes.Clone(e.ID)), params: e.Params}
	if p.byHand[q.method] > 0 {
		p.byHand[q.method]--
		p.questions = append(p.questions, q)
		return
	}
	p.counts[q.method]++
	p.Captures["count"] = strconv.Itoa(p.counts[q.method])
	if s, ok := p.answers[q.method]; ok {
		if s.Words[0] != "never" {
			_ = p.answer(q, &s) // what it refers to was captured, or the answer is left out
		}
		return
	}
	if dialect.Does(q.method, dialect.AsksPermission) {
		p.decide(q)
		return
	}
	p.writeLine(wire.NewError([]byte(q.id), []byte(`{"code":-32601,"message":"Method not found"}`)))
}
