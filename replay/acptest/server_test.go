package acptest_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acptap/acptap/replay/acptest"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// A client that follows the tape is no error of the test. A client that asks for something
// else is one, and so is a test without a client.
func TestServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.jsonl")
	err := os.WriteFile(path, []byte(`{"acptap":1,"start":{"proto":"mcp"}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Hello Ada"}]}}}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, argument, errors string
	}{
		{"the same", "Ada", ""},
		{"another argument", "Eve", `- "Ada"`},
		{"no client", "", "never came: initialize"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			try(t, func(f *fakeT) {
				url := acptest.Server(f, path)
				if tt.argument == "" {
					return
				}
				client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
				session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer session.Close()
				answer, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{"name": tt.argument}})
				if (err != nil) != (tt.errors != "") || err == nil && answer.Content[0].(*mcp.TextContent).Text != "Hello Ada" {
					t.Errorf("the answer is %+v, %v", answer, err)
				}
			}).check(t, tt.errors)
		})
	}
}

// TestServerACP: an agent of ACP that was recorded over stdio, over HTTP or over a WebSocket
// is played over HTTP and over a WebSocket, and the conversation is the recorded one.
func TestServerACP(t *testing.T) {
	tapes, err := filepath.Glob("../../testdata/tapes/transports/*.jsonl")
	if err != nil || len(tapes) != 3 {
		t.Fatalf("the tapes are %v, %v", tapes, err)
	}
	for _, tape := range tapes {
		for _, scheme := range []string{"http", "ws"} {
			t.Run(filepath.Base(tape)+" over "+scheme, func(t *testing.T) {
				url := scheme + strings.TrimPrefix(acptest.Server(t, tape), "http")
				if !strings.HasSuffix(url, "/acp") {
					t.Errorf("it is at %s", url)
				}
				agent := acptest.Command(t, func(stdin io.Reader, stdout io.Writer) { replaytest.Remote(t, url, stdin, stdout) })
				acptest.Client(t, tape, agent, quick)
			})
		}
	}
}
