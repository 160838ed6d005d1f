package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/script"
)

// goodClient does what a client does that is tested, and shows what the agent says.
const goodClient = `hello
session
> session/prompt
< session/update {"update":{"content":{"text":{"$as":"text"}}}}
stderr "acptap-says-hello"
< result
`

// A scriptedClient starts the agent of a directory for each script, and plays the script to
// it. What a step stderr writes goes to its stdout.
type scriptedClient struct {
	dialect dialect.Dialect
	scripts []*script.Script
	between func() []proxy.Interceptor // it and each agent; nil: nothing is
}

// peer returns the client in a case, for which it has a directory. Its first contact is a
// good client's.
func (c *scriptedClient) peer(id, dir string) (*proxy.Peer, error) {
	scripts := c.scripts
	if id == helloID {
		good, err := script.Parse("good client", goodClient, c.dialect)
		if err != nil {
			return nil, err
		}
		scripts = []*script.Script{good}
	}
	return &proxy.Peer{Run: func(ctx context.Context, _ io.Reader, out, errOut io.Writer) (status int) {
		for _, s := range scripts {
			p := script.Player{
				Script: s, Dialect: c.dialect, Side: wire.ClientToAgent, Err: out,
				Captures: script.Captures{"cwd": "/w", "servers": []any{}},
			}
			if err := c.play(ctx, &p, dir); err != nil {
				fmt.Fprintln(errOut, err)
				return 99
			}
			status = p.Exit
		}
		return status
	}}, nil
}

// play plays to the agent of a directory.
func (c *scriptedClient) play(ctx context.Context, p *script.Player, dir string) error {
	toAgent, fromClient := io.Pipe()
	toClient, fromAgent := io.Pipe()
	ended := make(chan error)
	go func() {
		ended <- c.agent(context.WithoutCancel(ctx), dir, toAgent, fromAgent)
		fromAgent.Close()
		toAgent.Close()
	}()
	p.Out, p.In = fromClient, script.Lines(toClient, ctx.Done())
	p.Play(ctx)
	fromClient.Close()
	go io.Copy(io.Discard, toClient)
	err := <-ended
	if errors.As(err, new(*proxy.ExitError)) {
		return nil
	}
	return err
}

// agent runs the agent of a directory, behind what is between.
func (c *scriptedClient) agent(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	if c.between == nil {
		return PlayAgent(ctx, dir, in, out, io.Discard)
	}
	played := make(chan error, 1)
	p := proxy.Proxy{In: in, Out: out, Err: io.Discard, Interceptors: c.between(), Patience: grace, Peer: &proxy.Peer{
		Run: func(ctx context.Context, in io.Reader, out, errOut io.Writer) int {
			played <- PlayAgent(ctx, dir, in, out, errOut)
			return 0
		},
	}}
	return cmp.Or(p.Run(ctx), <-played)
}
