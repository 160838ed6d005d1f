package probe_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/probe"
	"github.com/acptap/acptap/replay/script"
)

var (
	update = flag.Bool("update", false, "rewrite golden files")
	boards = flag.Bool("boards", false, "play the cases to real servers; takes a minute, and npm")
	steady = flag.Int("steady", 0, "play the cases so often to a few peers, under load; 20 take some minutes")
)

// The examples that SDKs for Go come with.
const (
	goServer = "github.com/modelcontextprotocol/go-sdk/examples/server/everything"
	goAgent  = "github.com/coder/acp-go-sdk/example/agent"
)

// build returns the program of a package.
func build(t *testing.T, pkg string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "peer")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, pkg).CombinedOutput(); err != nil {
		t.Fatalf("building the example: %v\n%s", err, out)
	}
	return program
}

// everything is the example server of the authors of MCP.
const everything = "@modelcontextprotocol/server-everything@2026.8.31"

// TestBoards plays the cases to real MCP servers: the example that the Go SDK comes with, and
// the one of npm, where npm can install it. Their golden files have the outcome of each case,
// and what rules found.
func TestBoards(t *testing.T) {
	if !*boards || runtime.GOOS != "linux" {
		t.Skip("takes a minute, and watches processes: -boards")
	}
	t.Run("go-sdk", func(t *testing.T) {
		t.Parallel()
		compare(t, nil, build(t, goServer))
	})
	t.Run("server-everything", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		install := exec.CommandContext(t.Context(), "npm", "install", "--prefix", dir, "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", everything)
		if out, err := install.CombinedOutput(); err != nil {
			t.Skipf("npm cannot install it: %v\n%s", err, out)
		}
		call := map[string]any{"name": "trigger-long-running-operation", "arguments": map[string]any{"duration": 2, "steps": 4}}
		compare(t, call, "node", filepath.Join(dir, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"))
	})
}

// compare plays all cases to a server, and compares their outcomes with a golden file.
func compare(t *testing.T, call map[string]any, command ...string) {
	t.Helper()
	cases, err := probe.Cases(probe.Server)
	if err != nil {
		t.Fatal(err)
	}
	r := probe.Runner{Kind: probe.Server, Command: command, Cases: cases, Store: record.OpenStore(t.TempDir()), Cwd: t.TempDir(), Call: call}
	report, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := board(report)
	file := filepath.Join("testdata/boards", filepath.Base(t.Name())+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	t.Errorf("got\n%s", got)
	for i := range report.Results {
		t.Log(report.Results[i].Case.ID, report.Results[i].Says(), report.Results[i].Told)
	}
}

// board returns the outcome of each case, and what rules found.
func board(r *probe.Report) string {
	var b strings.Builder
	for i := range r.Results {
		res := &r.Results[i]
		fmt.Fprintf(&b, "%-22s %s\n", res.Case.ID, res.Outcome)
	}
	for _, f := range r.Rest() {
		fmt.Fprintf(&b, "%-22s %s\n", f.Rule.ID, f.Strength)
	}
	return b.String()
}

// rightScript is an agent that does all that cases without a model want of it.
const rightScript = `offers {"sessionCapabilities":{"close":{},"delete":{},"resume":{}}}
on session/new result {"sessionId":"scripted-${count}","modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]}}
on session/close result {}
on session/delete result {}
on session/resume error -32002
on session/set_mode result {}
`

// TestSteady plays the cases again and again while others keep the processors busy. Only a
// case that is a race may have another outcome than the first time.
func TestSteady(t *testing.T) {
	if *steady == 0 || runtime.GOOS != "linux" {
		t.Skip("takes minutes, and watches processes: -steady 20")
	}
	right, err := script.Parse("right", rightScript, dialect.ACPv1)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * runtime.NumCPU() {
		go func() {
			for t.Context().Err() == nil {
			}
		}()
	}
	agent, server := build(t, goAgent), build(t, goServer)
	for name, fresh := range map[string]func() *probe.Runner{
		"scripted": func() *probe.Runner {
			return &probe.Runner{Dialects: []dialect.Dialect{dialect.ACPv1}, Peer: func() *proxy.Peer { return script.NewAgent(right, dialect.ACPv1, nil, nil) }}
		},
		"agent":  func() *probe.Runner { return &probe.Runner{Command: []string{agent}, Prompts: 100} },
		"server": func() *probe.Runner { return &probe.Runner{Kind: probe.Server, Command: []string{server}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first map[string]probe.Outcome
			for n := range *steady {
				got := outcomes(t, fresh())
				if n == 0 {
					first = got
					t.Log(len(first), "cases")
				}
				for id, outcome := range got {
					if outcome != first[id] {
						t.Errorf("%s: %v at first, %v in run %d", id, first[id], outcome, n+1)
					}
				}
			}
		})
	}
}

// outcomes plays all cases that are no race, and returns the outcome of each, and what rules
// found.
func outcomes(t *testing.T, r *probe.Runner) map[string]probe.Outcome {
	all, err := probe.Cases(r.Kind)
	if err != nil {
		t.Fatal(err)
	}
	r.Cases = slices.DeleteFunc(all, func(c *probe.Case) bool { return c.Repeat > 1 })
	r.Jobs = 8 // they wait more than they work
	r.Store, r.Cwd, r.EchoServer = record.OpenStore(t.TempDir()), t.TempDir(), []string{os.Args[0], "echo-server"}
	report, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]probe.Outcome{}
	for i := range report.Results {
		res := &report.Results[i]
		got[res.Case.ID] = max(got[res.Case.ID], res.Outcome)
		if res.Outcome >= probe.Hurts {
			t.Log(res.Case.ID, res.Outcome, res.Says())
		}
	}
	for _, f := range report.Rest() {
		got[f.Rule.ID] = probe.Hurts
	}
	return got
}
