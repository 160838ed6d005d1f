package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A demoPlayer is one side of the demo: it says its own lines of the script, and
// takes those of the other side in the order of the script and no others.
type demoPlayer struct {
	me   wire.Direction // ClientToAgent or AgentToClient
	in   *bufio.Reader
	out  io.Writer
	err  io.Writer                               // the agent's stderr; the client has none
	seen func(by wire.Direction, message []byte) // told of each message
	fast bool                                    // without pauses

	ids map[string][]byte // what the other side's requests have for an id, by the id in the script
	dir []byte            // of the session, as the client has named it, in JSON; the script has demoDir
}

func (p *demoPlayer) play(script []demoStep) error {
	p.ids = make(map[string][]byte)
	for _, step := range script {
		for _, line := range step.lines {
			if err := p.turn(step, line); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *demoPlayer) turn(step demoStep, line string) error {
	switch step.by {
	case p.me:
		p.wait(step.pause)
		return p.say(line)
	case wire.AgentStderr:
		if p.me == wire.ClientToAgent {
			return nil
		}
		p.wait(step.pause)
		_, err := fmt.Fprintln(p.err, line)
		return err
	}
	return p.hear(step, line)
}

func (p *demoPlayer) wait(pause time.Duration) {
	if !p.fast {
		time.Sleep(pause)
	}
}

func (p *demoPlayer) say(line string) error {
	message := []byte(line)
	if e := wire.Scan(message); e.Kind == wire.Response {
		message = dialect.Set(message, p.ids[string(e.ID)], "id")
	}
	if p.dir != nil {
		message = bytes.ReplaceAll(message, []byte(demoDir), p.dir)
	}
	p.seen(p.me, message)
	_, err := p.out.Write(append(message, '\n'))
	return err
}

// demoChecked are the fields in which a message must be as in the script. All
// else may differ: the other side is not always the demo's.
var demoChecked = [...]string{"method", "params.sessionId", "params.prompt.#", "result.outcome.optionId", "error.code"}

// hear takes the next message of the other side, which should be want.
func (p *demoPlayer) hear(step demoStep, want string) error {
	by := step.by
	line, err := p.in.ReadBytes('\n')
	for step.history && err == nil && gjson.GetBytes(line, "method").Str == "session/update" {
		p.seen(by, line)
		line, err = p.in.ReadBytes('\n')
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the %s has ended, before %.200s", demoName(by), want)
	}
	if err != nil {
		return err
	}
	got, script := wire.Scan(line), wire.Scan([]byte(want))
	agree := got.Kind == script.Kind
	if agree {
		for _, field := range demoChecked {
			agree = agree && gjson.GetBytes(line, field).Raw == gjson.Get(want, field).Raw
		}
		switch got.Kind {
		case wire.Request:
			p.ids[string(script.ID)] = got.ID
			if dir := gjson.GetBytes(got.Params, "cwd"); dir.Type == gjson.String {
				p.dir = []byte(dir.Raw[1 : len(dir.Raw)-1])
			}
		case wire.Response:
			agree = agree && bytes.Equal(got.ID, script.ID)
		}
	}
	if !agree {
		return fmt.Errorf("the %s said %.200s where the script has %.200s", demoName(by), bytes.TrimSpace(line), want)
	}
	p.seen(by, line)
	return nil
}

// rest waits until the other side has ended, and takes it for an error if it
// says anything until then.
func (p *demoPlayer) rest() error {
	n, err := io.Copy(io.Discard, p.in)
	if n > 0 {
		return fmt.Errorf("%d bytes more than the script has", n)
	}
	return err
}

func demoName(by wire.Direction) string {
	if by == wire.ClientToAgent {
		return "client"
	}
	return "agent"
}
