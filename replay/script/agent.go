package script

import (
	"context"
	"io"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// NewAgent returns an agent that plays a script, and then answers requests until its client
// has left. settled, if not nil, is called with the outcome of each wait of the script.
func NewAgent(s *Script, d dialect.Dialect, known Captures, settled func(Outcome)) *proxy.Peer {
	return &proxy.Peer{Run: func(ctx context.Context, in io.Reader, out, err io.Writer) int {
		captures := Captures{"cwd": "", "servers": []any{}, "revision": ""}
		for name, v := range known {
			captures[name] = v
		}
		p := &Player{Script: s, Dialect: d, Side: wire.AgentToClient, Captures: captures, Out: out, Err: err, In: Lines(in, ctx.Done()), Settled: settled}
		p.Play(ctx)
		p.Serve(ctx)
		return p.Exit
	}}
}
