package probe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/probe"
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

// runClient plays one case to a client that plays a text; a step stderr writes to its stdout.
func runClient(t *testing.T, k probe.Kind, c *probe.Case, d dialect.Dialect, text string) (*probe.Report, error) {
	t.Helper()
	r := probe.Runner{
		Kind: k, Cases: []*probe.Case{c}, Store: record.OpenStore(t.TempDir()), Dialects: []dialect.Dialect{d},
		Patience: 20 * time.Second, Jobs: 1, Cwd: t.TempDir(),
		PlayClient: func(id, dir string) *proxy.Peer {
			if id == "hello" {
				return clientOf(t, goodClient, d, dir)
			}
			return clientOf(t, text, d, dir)
		},
	}
	if c.Do != "" {
		r.Ask = func(*probe.Case) {}
	}
	return r.Run(t.Context())
}

// clientOf returns a client that starts the agent of a directory, and plays a text to it.
func clientOf(t *testing.T, text string, d dialect.Dialect, dir string) *proxy.Peer {
	s, err := script.Parse("client", text, d)
	if err != nil {
		t.Fatal(err)
	}
	return &proxy.Peer{Run: func(ctx context.Context, _ io.Reader, out, _ io.Writer) int {
		toAgent, fromClient := io.Pipe()
		toClient, fromAgent := io.Pipe()
		ended := make(chan error)
		go func() {
			ended <- probe.PlayAgent(context.WithoutCancel(ctx), dir, toAgent, fromAgent, io.Discard)
			fromAgent.Close()
			toAgent.Close()
		}()
		p := script.Player{
			Script: s, Dialect: d, Side: wire.ClientToAgent, Out: fromClient, Err: out, In: script.Lines(toClient, ctx.Done()),
			Captures: script.Captures{"cwd": "/w", "servers": []any{}},
		}
		p.Play(ctx)
		fromClient.Close()
		go io.Copy(io.Discard, toClient)
		var exit *proxy.ExitError
		if err := <-ended; err != nil && !errors.As(err, &exit) {
			fmt.Fprintln(out, err)
			return 99
		}
		return p.Exit
	}}
}
