package script

import (
	"context"
	"io"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// NewAgent returns an agent that plays a script, and then answers requests until its client
// has left. done, if not nil, gets the outcomes of the script's waits for the client.
func NewAgent(s *Script, d dialect.Dialect, known Captures, done func([]Outcome)) *proxy.Peer {
	return &proxy.Peer{Run: func(ctx context.Context, in io.Reader, out, err io.Writer) int {
		captures := Captures{"cwd": "", "servers": []any{}, "revision": ""}
		for name, v := range known {
			captures[name] = v
		}
		p := &Player{Script: s, Dialect: d, Side: wire.AgentToClient, Captures: captures, Out: out, Err: err, In: Lines(in, ctx.Done())}
		outcomes := p.Play(ctx)
		if done != nil {
			done(outcomes)
		}
		p.Serve(ctx)
		return p.Exit
	}}
}
