package probe_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/probe"
)

var (
	update = flag.Bool("update", false, "rewrite golden files")
	boards = flag.Bool("boards", false, "play the cases to real servers; takes a minute, and npm")
)

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
		server := filepath.Join(t.TempDir(), "server")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", server, "github.com/modelcontextprotocol/go-sdk/examples/server/everything").CombinedOutput(); err != nil {
			t.Fatalf("building the example: %v\n%s", err, out)
		}
		compare(t, nil, server)
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
	var b strings.Builder
	for i := range report.Results {
		res := &report.Results[i]
		fmt.Fprintf(&b, "%-22s %s\n", res.Case.ID, res.Outcome)
	}
	for i := range report.Findings {
		fmt.Fprintf(&b, "%-22s %s\n", report.Findings[i].Rule.ID, report.Findings[i].Strength)
	}
	file := filepath.Join("testdata/boards", filepath.Base(t.Name())+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() == string(want) {
		return
	}
	t.Errorf("got\n%s", &b)
	for i := range report.Results {
		t.Log(report.Results[i].Case.ID, report.Results[i].Says(), report.Results[i].Told)
	}
}
