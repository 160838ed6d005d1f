package acptest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acptap/acptap/replay/acptest"
)

// relayingAgent is an agent that calls the tool greet of each of its MCP servers.
func relayingAgent(t *testing.T, name string) func(stdin io.Reader, stdout io.Writer) {
	return func(stdin io.Reader, stdout io.Writer) {
		in := bufio.NewScanner(stdin)
		for in.Scan() {
			var r struct {
				ID     json.RawMessage
				Method string
				Params struct {
					McpServers []struct {
						Type, URL, Command string
						Args               []string
					}
				}
			}
			if err := json.Unmarshal(in.Bytes(), &r); err != nil {
				t.Error(err)
			}
			result := `{"protocolVersion":1}`
			if r.Method == "session/new" {
				result = `{"sessionId":"s"}`
				for _, s := range r.Params.McpServers {
					var to mcp.Transport = &mcp.StreamableClientTransport{Endpoint: s.URL}
					if s.Type == "" {
						to = &mcp.CommandTransport{Command: exec.Command(s.Command, s.Args...)}
					}
					if err := greet(to, name); err != nil {
						result = fmt.Sprintf(`{"sessionId":%q}`, err.Error())
					}
				}
			}
			fmt.Fprintf(stdout, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
		}
	}
}

func greet(to mcp.Transport, name string) error {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), to, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	_, err = session.CallTool(context.Background(), &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{"name": name}})
	return err
}

// TestClientServers: tapes of servers next to the client's tape replace the servers, which
// need not be installed. An agent's request that is not on them is an error, and so is a
// server without a tape.
func TestClientServers(t *testing.T) {
	const server = `{"acptap":1,"proto":"mcp"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"unknown method"}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Hello Ada"}]}}}
`
	for _, tt := range []struct {
		name, who string
		servers   []string // with tapes
		err       string
	}{
		{"all recorded", "Ada", []string{"local", "remote_one"}, ""},
		{"another call", "Eve", []string{"local", "remote_one"}, "the agent left the tape of its MCP server"},
		{"one without a tape", "Ada", []string{"local"}, "but remote one has none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("fix.jsonl", `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"local","command":"/nonexistent/server","args":[],"env":[]},{"type":"http","name":"remote one","url":"http://127.0.0.1:9/mcp","headers":[]}]}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}
`)
			for _, name := range tt.servers {
				write("fix.mcp."+name+".jsonl", server)
			}
			try(t, func(f *fakeT) {
				acptest.Client(f, filepath.Join(dir, "fix.jsonl"), acptest.Command(f, relayingAgent(t, tt.who)), quick)
			}).check(t, tt.err)
		})
	}
}
