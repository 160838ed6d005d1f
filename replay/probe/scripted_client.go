package probe

import (
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

// playScriptedClient makes the first contact a good client's, and the rest that of one that
// plays steps.
func (r *Runner) playScriptedClient(steps *script.Script, d dialect.Dialect) error {
	good, err := script.Parse("good client", goodClient, d)
	r.PlayClient = func(id, dir string) *proxy.Peer {
		if id == "hello" {
			return ScriptedClient(d, dir, good)
		}
		return ScriptedClient(d, dir, steps)
	}
	return err
}

// ScriptedClient returns a client that starts the agent of a directory for each script, and
// plays the script to it; what a step stderr writes goes to its stdout.
func ScriptedClient(d dialect.Dialect, dir string, scripts ...*script.Script) *proxy.Peer {
	return &proxy.Peer{Run: func(ctx context.Context, _ io.Reader, out, errOut io.Writer) (status int) {
		for _, s := range scripts {
			p := script.Player{
				Script: s, Dialect: d, Side: wire.ClientToAgent, Err: out,
				Captures: script.Captures{"cwd": "/w", "servers": []any{}},
			}
			if err := playTo(ctx, &p, dir); err != nil {
				fmt.Fprintln(errOut, err)
				return 99
			}
			status = p.Exit
		}
		return status
	}}
}

// playTo plays to the agent of a directory.
func playTo(ctx context.Context, p *script.Player, dir string) error {
	toAgent, fromClient := io.Pipe()
	toClient, fromAgent := io.Pipe()
	ended := make(chan error)
	go func() {
		ended <- PlayAgent(context.WithoutCancel(ctx), dir, toAgent, fromAgent, io.Discard)
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
