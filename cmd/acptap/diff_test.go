package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
)

// a turn of which the answer is %s
const turnLines = `{"dir":"c2a","frame":{"id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"a2c","frame":{"id":0,"result":{"protocolVersion":1}}}
{"dir":"c2a","frame":{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"dir":"a2c","frame":{"id":1,"result":{"sessionId":"s"}}}
{"dir":"c2a","frame":{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}}
{"dir":"a2c","frame":{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ANSWER"}}}}}
{"dir":"a2c","frame":{"id":2,"result":{"stopReason":"end_turn"}}}
`

func TestDiff(t *testing.T) {
	dir := t.TempDir()
	file := func(answer string) string {
		path := filepath.Join(dir, answer+".jsonl")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(turnLines, "ANSWER", answer)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := file("yes"), file("no")
	runs := a + "  ✓ done\n" + b + "  ✓ done\n"
	tests := []struct {
		name string
		args []string
		want string
		err  error
	}{
		{"same", []string{a, a}, "", nil},
		{"same shape", []string{"--compare", "shape", a, b}, "", nil},
		{"differs", []string{a, b}, runs + "--- " + a + "\n+++ " + b + `
@@ -8,5 +8,5 @@
     user
       | hi
     agent
-      | yes
+      | no
   turn 1: done
`, cli.ErrNo},
		{"exact", []string{"--exact", a, b}, runs + "--- " + a + "\n+++ " + b + `
@@ -22,7 +22,7 @@
 a2c notification
   method "session/update"
   params.sessionId "s"
-  params.update.content.text "yes"
+  params.update.content.text "no"
   params.update.content.type "text"
   params.update.sessionUpdate "agent_message_chunk"
 a2c response
`, cli.ErrNo},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := diffOf(tt.args...)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %s%v\nwant %s%v", got, err, tt.want, tt.err)
			}
		})
	}
	t.Run("json", func(t *testing.T) {
		got, err := diffOf("--json", a, b)
		var diff struct {
			Level string
			Hunks []struct {
				Old, New int
				Lines    []struct{ Op, Text string }
			}
		}
		if !errors.Is(err, cli.ErrNo) || json.Unmarshal([]byte(got), &diff) != nil {
			t.Fatalf("got %s, %v", got, err)
		}
		if diff.Level != "content" || len(diff.Hunks) != 1 || diff.Hunks[0].Old != 8 || diff.Hunks[0].Lines[3].Op != "-" {
			t.Errorf("got %+v", diff)
		}
	})
	t.Run("one stdin", func(t *testing.T) {
		if _, err := diffOf("-", "-"); err == nil || errors.Is(err, cli.ErrNo) {
			t.Errorf("got %v", err)
		}
	})
}

func diffOf(args ...string) (string, error) {
	var dir string
	var out bytes.Buffer
	cmd := newDiffCmd(&dir)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	err := cmd.Execute()
	return out.String(), err
}
