package probe_test

import (
	"slices"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
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

// clientOf returns a client that starts the agent of a directory for each text, and plays the
// text to it.
func clientOf(t *testing.T, dir string, texts ...string) *proxy.Peer {
	t.Helper()
	var all []*script.Script
	for _, text := range texts {
		s, err := script.Parse("client", text, dialect.ACPv1)
		if err != nil {
			t.Error(err)
			return nil
		}
		all = append(all, s)
	}
	return probe.ScriptedClient(dialect.ACPv1, dir, all...)
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
						return clientOf(t, dir, goodClient)
					}
					return clientOf(t, dir, tt.texts...)
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
			r := probe.Runner{
				Kind: probe.Client, Cases: []*probe.Case{c}, Store: record.OpenStore(t.TempDir()), Dialects: []dialect.Dialect{dialect.ACPv1},
				Patience: 20 * time.Second, Jobs: 1, Cwd: t.TempDir(),
				PlayClient: func(id, dir string) *proxy.Peer {
					if id == "hello" {
						return clientOf(t, dir, goodClient)
					}
					return clientOf(t, dir, "hello\neof\n")
				},
			}
			if c.Do != "" {
				r.Ask = func(*probe.Case) {}
			}
			report, err := r.Run(t.Context())
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
