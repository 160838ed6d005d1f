package demo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A player is one side of the script: it sends its own lines, and accepts the other side's
// lines only in the order of the script.
type player struct {
	me   wire.Direction // ClientToAgent or AgentToClient
	in   *bufio.Reader
	out  io.Writer
	err  io.Writer                               // the agent's stderr; the client has none
	seen func(by wire.Direction, message []byte) // called with each message; may be nil
	fast bool                                    // without pauses

	ids map[string][]byte // the ids of the other side's requests, by the id in the script
	dir []byte            // the session's directory as the client named it, in JSON; replaces sessionDir of the script
}

func (p *player) play(script []Step) error {
	p.ids = make(map[string][]byte)
	if p.seen == nil {
		p.seen = func(wire.Direction, []byte) {}
	}
	for _, step := range script {
		if err := p.exchange(step); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) exchange(step Step) error {
	switch step.By {
	case p.me:
		p.wait(step.pause)
		return p.send(step.Line)
	case wire.AgentStderr:
		if p.me == wire.ClientToAgent {
			return nil
		}
		p.wait(step.pause)
		_, err := fmt.Fprintln(p.err, step.Line)
		return err
	}
	return p.receive(step)
}

func (p *player) wait(pause time.Duration) {
	if !p.fast {
		time.Sleep(pause)
	}
}

func (p *player) send(line string) error {
	message := []byte(line)
	if e := wire.Scan(message); e.Kind == wire.Response {
		message = wire.Set(message, p.ids[string(e.ID)], "id")
	}
	if p.dir != nil {
		message = bytes.ReplaceAll(message, []byte(sessionDir), p.dir)
	}
	p.seen(p.me, message)
	_, err := p.out.Write(append(message, '\n'))
	return err
}

// comparedFields are the fields in which a message must match the script. Others may
// differ, because the client need not be the scripted one.
var comparedFields = [...]string{"method", "params.sessionId", "params.prompt.#", "result.outcome.optionId", "error.code"}

// receive reads the other side's next message and compares it with the script's.
func (p *player) receive(step Step) error {
	by, want := step.By, step.Line
	line, err := p.in.ReadBytes('\n')
	for step.history && err == nil && wire.ValueAt(line, "method").Text() == "session/update" {
		p.seen(by, line)
		line, err = p.in.ReadBytes('\n')
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the %s has ended, before %.200s", by.Sender(), want)
	}
	if err != nil {
		return err
	}
	got, script := wire.Scan(line), wire.Scan([]byte(want))
	agree := got.Kind == script.Kind
	if agree {
		for _, field := range comparedFields {
			agree = agree && wire.ValueAt(line, field).Raw() == wire.ValueAt(want, field).Raw()
		}
		switch got.Kind {
		case wire.Request:
			p.ids[string(script.ID)] = got.ID
			if dir := wire.ValueAt(got.Params, "cwd"); dir.IsString() {
				p.dir = []byte(dir.Raw()[1 : len(dir.Raw())-1])
			}
		case wire.Response:
			agree = agree && bytes.Equal(got.ID, script.ID)
		}
	}
	if !agree {
		return fmt.Errorf("the %s said %.200s where the script has %.200s", by.Sender(), bytes.TrimSpace(line), want)
	}
	p.seen(by, line)
	return nil
}

// drain waits until the other side ends. It returns an error if anything more arrives.
func (p *player) drain() error {
	n, err := io.Copy(io.Discard, p.in)
	if n > 0 {
		return fmt.Errorf("%d bytes more than the script has", n)
	}
	return err
}

// An Agent plays the agent of the script.
type Agent struct {
	Restarted bool // play its part of the reload
	Fast      bool // without pauses
}

// Run plays the agent. It returns an error if the client departs from the script, ends
// early or sends too much.
func (a Agent) Run(in io.Reader, out, errOut io.Writer) error {
	p := player{
		me: wire.AgentToClient,
		in: bufio.NewReader(in), out: out, err: errOut,
		fast: a.Fast,
	}
	name := "conversation"
	if a.Restarted {
		name = "reload-agent"
	}
	if err := p.play(script(name)); err != nil {
		return err
	}
	return p.drain()
}

// A Progress writes a line for each message that passes.
type Progress struct {
	w       io.Writer
	methods [2]map[string]string // of requests, by sender and id
	last    string
}

// NewProgress returns a Progress that writes to w.
func NewProgress(w io.Writer) *Progress {
	return &Progress{w: w, methods: [2]map[string]string{{}, {}}}
}

// Show reports the next message. Consecutive messages of one kind share a line.
func (p *Progress) Show(by wire.Direction, message []byte) {
	e := wire.Scan(message)
	what := string(e.Method)
	switch e.Kind {
	case wire.Request:
		p.methods[by][string(e.ID)] = what
	case wire.Response:
		what = "answers " + p.methods[1-by][string(e.ID)]
	default:
		what = strings.TrimSpace(what + " " + e.Params.Get("update.sessionUpdate").Text())
	}
	if line := fmt.Sprintf("%-6s → %s", by.Sender(), what); line != p.last {
		fmt.Fprintln(p.w, line)
		p.last = line
	}
}
