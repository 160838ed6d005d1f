package probe_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/syntax"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/probe"
	"github.com/acptap/acptap/replay/script"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "echo-server" {
		status, err := probe.Echo(os.Args[2], os.Args[3], os.Stdin, os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// kinds are all kinds of peers whose cases have scripted peers.
var kinds = []probe.Kind{probe.Agent, probe.Server, probe.Client}

// scripted returns a peer that plays a text.
func scripted(t *testing.T, text string, d dialect.Dialect) func() *proxy.Peer {
	t.Helper()
	s, err := script.Parse("peer", text, d)
	if err != nil {
		var wrong *syntax.Error
		errors.As(err, &wrong)
		t.Fatalf("%v\n%s", err, wrong.Caret())
	}
	return func() *proxy.Peer { return script.NewAgent(s, d, nil, nil) }
}

// run plays one case to a peer that plays a text.
func run(t *testing.T, k probe.Kind, c *probe.Case, d dialect.Dialect, text string) (*probe.Report, error) {
	t.Helper()
	r := probe.Runner{
		Kind: k, Cases: []*probe.Case{c}, Peer: scripted(t, text, d), Store: record.OpenStore(t.TempDir()), Dialects: []dialect.Dialect{d},
		Prompts: 100, Patience: 20 * time.Second, EchoServer: []string{os.Args[0], "echo-server"}, Cwd: t.TempDir(),
	}
	return r.Run(t.Context())
}

// TestCases plays each case to its scripted peers, which have the outcomes that their names
// say, and to one that answers initialize and then nothing, which is never ok.
func TestCases(t *testing.T) {
	for _, k := range kinds {
		cases, err := probe.Cases(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			t.Run(fmt.Sprint(k)+"/"+c.ID, func(t *testing.T) {
				t.Parallel()
				testCase(t, k, c)
			})
		}
	}
}

func testCase(t *testing.T, k probe.Kind, c *probe.Case) {
	var good, bad bool
	for _, x := range c.Examples {
		words := strings.Fields(x.Name)
		good, bad = good || words[0] == "good", bad || words[0] == "bad"
		want := probe.OK
		if c.Tier == script.Tell {
			want = probe.Told
		}
		d := c.For[0]
		for i, word := range words[1:] {
			var named probe.Outcome
			if named.UnmarshalText([]byte(word)) == nil {
				want = named
			} else if d.UnmarshalText([]byte(word)) != nil {
				t.Errorf("section %s: word %d is neither an outcome nor a dialect", x.Name, i+2)
			}
		}
		play := run
		if k == probe.Client {
			play = runClient
		}
		report, err := play(t, k, c, d, x.Text)
		if len(report.Results) != 1 {
			t.Fatalf("%s: %v", x.Name, err)
		}
		got := report.Results[0]
		if got.Outcome != want {
			step := ""
			if got.Step != nil {
				step = fmt.Sprintf("line %d %s: ", got.Step.Line, got.Step.Text)
			}
			t.Errorf("%s: %v, %s%s %q; want %v", x.Name, got.Outcome, step, got.Got, got.Told, want)
		}
		for _, f := range report.Findings {
			t.Errorf("%s: %s %s", x.Name, f.Rule.ID, f.Text)
		}
	}
	if !good || !bad && c.Tier != script.Tell {
		t.Error("has no good or no bad peer")
	}
}

// TestDeaf plays each case to a peer that answers initialize alone.
func TestDeaf(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what never comes")
	}
	for _, k := range kinds {
		cases, err := probe.Cases(k)
		if err != nil {
			t.Fatal(err)
		}
		_ = cases
	}
}

// TestNoPeer is about peers that cannot be met.
func TestNoPeer(t *testing.T) {
	cases, err := probe.Cases(probe.Agent)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, want string
		command    []string
	}{
		{"ends", "it ended before it answered initialize", []string{"/bin/true"}},
		{"fails", "it ended before it answered initialize: ", []string{"/bin/sh", "-c", "echo no key >&2; exit 3"}},
		{"not there", "", []string{"./no-such-agent"}},
		{"cat", "it did not answer initialize", []string{"/bin/cat"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := probe.Runner{Command: tt.command, Cases: cases, Store: record.OpenStore(t.TempDir()), Cwd: t.TempDir(), Start: 2 * time.Second}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := r.Run(ctx)
			var failed *probe.StartError
			if !errors.As(err, &failed) || !strings.HasPrefix(failed.Problem, tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
