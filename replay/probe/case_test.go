package probe_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

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
var kinds = []probe.Kind{probe.Agent, probe.Server}

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
	r := probe.Runner{Kind: k, Store: record.OpenStore(t.TempDir()), EchoServer: []string{os.Args[0], "echo-server"}, Cwd: t.TempDir()}
	trials, err := probe.Try(t.Context(), &r, c)
	if err != nil {
		var wrong *syntax.Error
		if errors.As(err, &wrong) {
			t.Fatalf("%v\n%s", err, wrong.Caret())
		}
		t.Fatal(err)
	}
	var good, bad bool
	for i := range trials {
		x := &trials[i]
		good, bad = good || strings.HasPrefix(x.Example.Name, "good"), bad || strings.HasPrefix(x.Example.Name, "bad")
		if problem := x.Problem(); problem != "" {
			step := ""
			if x.Got.Step != nil {
				step = fmt.Sprintf(" (line %d %s)", x.Got.Step.Line, x.Got.Step.Text)
			}
			t.Errorf("%s: %s%s %q", x.Example.Name, problem, step, x.Got.Told)
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
