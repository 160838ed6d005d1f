package script

import (
	"context"
	"io"
	"maps"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// NewAgent returns an agent that plays s and then answers requests until its client
// disconnects. settled, if not nil, is called with the outcome of each wait.
func NewAgent(s *Script, d dialect.Dialect, known Captures, settled func(Outcome)) *proxy.Peer {
	return (&Player{Script: s, Dialect: d, Captures: known, Settled: settled}).Agent()
}

// Agent returns an agent that plays the script of p and then answers requests until its client
// disconnects. It sets p's Side and streams.
func (p *Player) Agent() *proxy.Peer {
	return &proxy.Peer{Run: func(ctx context.Context, in io.Reader, out, err io.Writer) int {
		played := *p
		played.Captures = Captures{"cwd": "", "servers": []any{}, "revision": ""}
		maps.Copy(played.Captures, p.Captures)
		played.Side, played.Out, played.Err, played.In = wire.AgentToClient, out, err, Lines(in, ctx.Done())
		played.Play(ctx)
		played.Serve(ctx)
		return played.Exit
	}}
}
