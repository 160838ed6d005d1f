package probe_test

import (
	"context"
	"errors"
	"io"
	"slices"
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
				return clientOf(t, d, dir, goodClient)
			}
			return clientOf(t, d, dir, text)
		},
	}
	if c.Do != "" {
		r.Ask = func(*probe.Case) {}
	}
	return r.Run(t.Context())
}

// clientOf returns a client that starts the agent of a directory for each text, and plays the
// text to it.
func clientOf(t *testing.T, d dialect.Dialect, dir string, texts ...string) *proxy.Peer {
	return &proxy.Peer{Run: func(ctx context.Context, _ io.Reader, out, _ io.Writer) (status int) {
		for _, text := range texts {
			s, err := script.Parse("client", text, d)
			if err != nil {
				t.Error(err)
				return 99
			}
			p := script.Player{
				Script: s, Dialect: d, Side: wire.ClientToAgent, Err: out,
				Captures: script.Captures{"cwd": "/w", "servers": []any{}},
			}
			if err := playTo(ctx, &p, dir); err != nil {
				t.Error(err)
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
		ended <- probe.PlayAgent(context.WithoutCancel(ctx), dir, toAgent, fromAgent, io.Discard)
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

// TestClientStarts is about clients that start their agent not once.
func TestClientStarts(t *testing.T) {
	cases, err := probe.Cases(probe.Client)
	if err != nil {
		t.Fatal(err)
	}
	c := cases[slices.IndexFunc(cases, func(c *probe.Case) bool { return c.ID == "order/waits" })]
	for _, tt := range []struct {
		name  string
		texts []string
		want  probe.Outcome
		got   string
	}{
		{"never", nil, probe.NotTried, "it did not start its agent"},
		{"to look, and to work", []string{"hello\n", goodClient}, probe.OK, ""},
		{"to look twice", []string{"", ""}, probe.NotTried, "it ended before that"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := probe.Runner{
				Kind: probe.Client, Cases: []*probe.Case{c}, Store: record.OpenStore(t.TempDir()), Patience: 20 * time.Second, Jobs: 1, Cwd: t.TempDir(),
				PlayClient: func(id, dir string) *proxy.Peer {
					if id == "hello" {
						return clientOf(t, dialect.ACPv1, dir, goodClient)
					}
					return clientOf(t, dialect.ACPv1, dir, tt.texts...)
				},
			}
			report, err := r.Run(t.Context())
			if len(report.Results) != 1 {
				t.Fatal(err)
			}
			if got := report.Results[0]; got.Outcome != tt.want || got.Got != tt.got {
				t.Errorf("%v %q, want %v %q", got.Outcome, got.Got, tt.want, tt.got)
			}
		})
	}
}

// TestDeafClient plays each case to a client that opens the connection, and then does nothing.
func TestDeafClient(t *testing.T) {
	cases, err := probe.Cases(probe.Client)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			report, err := runClient(t, probe.Client, c, dialect.ACPv1, "hello\neof\n")
			if len(report.Results) != 1 {
				t.Fatal(err)
			}
			if got := report.Results[0]; got.Outcome == probe.OK && !slices.Contains(leaving, c.ID) {
				t.Errorf("ok: %q", got.Told)
			}
		})
	}
}

// leaving are cases in which it is right to leave.
var leaving = []string{"version/unknown"}
