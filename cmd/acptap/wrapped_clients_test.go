package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
)

// Clients that are started through settings that wrap has written: acpx with the
// example agent of github.com/coder/acp-go-sdk, and the MCP inspector with the
// reference server. They run where npm has installed them on the PATH:
//
//	npm install -g acpx @modelcontextprotocol/inspector @modelcontextprotocol/server-everything
func TestWrappedClients(t *testing.T) {
	if testing.Short() {
		t.Skip("the example agent takes five seconds")
	}
	for _, tt := range []struct {
		needs, file, text string
		wrap, run         []string
		want              string // in what the client prints
	}{
		{
			needs: "acpx", file: ".acpxrc.json",
			text: "{\n  \"agents\": {\n    \"example\": {\n      \"argv\": [\"acp-agent\"]\n    }\n  }\n}\n",
			wrap: []string{"acpx", "example", "--project"},
			run:  []string{"acpx", "--approve-all", "example", "exec", "hello"}, want: "end_turn",
		},
		{
			needs: "mcp-inspector", file: "mcp.json",
			text: "{\"mcpServers\": {\r\n\t\"everything\": {\"command\": \"mcp-server-everything\"}}}",
			wrap: []string{"claude-code", "everything", "--file", "mcp.json"},
			run:  []string{"mcp-inspector", "--cli", "--config", "mcp.json", "--server", "everything", "--method", "tools/list"}, want: `"echo"`,
		},
	} {
		t.Run(tt.needs, func(t *testing.T) {
			if _, err := exec.LookPath(tt.needs); err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			store, bin := filepath.Join(dir, "store"), filepath.Join(dir, "bin")
			home, project := filepath.Join(dir, "home"), filepath.Join(dir, "project")
			for _, d := range []string{bin, home, project} {
				if err := os.Mkdir(d, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "acp-agent"), "github.com/coder/acp-go-sdk/example/agent").CombinedOutput()
			if err != nil {
				t.Fatalf("building the example agent: %v\n%s", err, out)
			}
			run := func(command ...string) string {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, command[0], command[1:]...)
				cmd.Dir = project
				cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v: %v\n%s", command, err, out)
				}
				return string(out)
			}
			file := filepath.Join(project, tt.file)
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			run(append([]string{"acptap", "wrap", "--store", store}, tt.wrap...)...)
			if got := run(tt.run...); !strings.Contains(got, tt.want) {
				t.Errorf("the client prints\n%s", got)
			}
			awaitTape(t, store)
			l, err := record.OpenStore(store).List()
			if err != nil || len(l.Tapes) != 1 || l.Tapes[0].Start.Name != tt.wrap[1] || l.Tapes[0].Frames == 0 {
				t.Errorf("the tapes are %+v, %v", l.Tapes, err)
			}
			run(append([]string{"acptap", "unwrap", "--store", store}, tt.wrap...)...)
			if got := string(read(t, file)); got != tt.text {
				t.Errorf("unwrapped: got\n%s\nwant\n%s", got, tt.text)
			}
		})
	}
}
