package demo

import (
	"bufio"
	"io"

	"github.com/acptap/acptap/proxy/wire"
)

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
		seen: func(wire.Direction, []byte) {},
		fast: a.Fast,
	}
	script := Script()
	if a.Restarted {
		_, script = reloadScript()
	}
	if err := p.play(script); err != nil {
		return err
	}
	return p.drain()
}
