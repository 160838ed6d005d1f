package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acptap/acptap/record"
)

// TestServersByURL: an agent's traffic with servers that it reaches by URL is on tapes nested
// in its own, and is otherwise unchanged. Credentials in headers are only on the agent's own
// tape, where the client sent them.
func TestServersByURL(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	type message struct {
		Message string `json:"message"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in message) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "echo of " + in.Message}}}, nil, nil
	})
	get := func(*http.Request) *mcp.Server { return server }
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(get, nil))
	mux.Handle("/old/sse", mcp.NewSSEHandler(get, nil))
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		if in.Header.Get("Authorization") != "Bearer very-secret" {
			t.Errorf("%s without its header: %v", in.URL, in.Header)
		}
		mux.ServeHTTP(w, in)
	}))
	defer upstream.Close()

	header := `"headers":[{"name":"Authorization","value":"Bearer very-secret"}]`
	entries := fmt.Sprintf(`{"type":"http","name":"new","url":"%[1]s/mcp?key=hidden",%[2]s},{"type":"sse","name":"old","url":"%[1]s/old/sse",%[2]s}`, upstream.URL, header)
	conversation := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("acptap", args...)
		cmd.Env = append(cmd.Environ(), "HTTP_PROXY=", "http_proxy=", "ALL_PROXY=", "all_proxy=")
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[` + entries + `]}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"tools-1","prompt":[{"type":"text","text":"new/echo {\"message\":\"one\"}\nold/echo {\"message\":\"two\"}"}]}}
`)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil || stderr.Len() > 0 {
			t.Fatalf("%v: %v\n%s", args, err, stderr.String())
		}
		return string(out)
	}
	store := filepath.Join(t.TempDir(), "store")
	want := conversation("--store", store, "proxy", "--name", "plain", "--", "tool-agent")
	got := conversation("--store", store, "proxy", "--name", "coder", "--mcp", "--", "tool-agent")
	if got != want || strings.Count(got, `"completed"`) != 2 {
		t.Errorf("with --mcp the client got\n%s\nwithout\n%s", got, want)
	}

	l, err := record.OpenStore(store).List()
	if err != nil {
		t.Fatal(err)
	}
	parents, children := map[string]string{}, 0
	for _, info := range l.Tapes {
		if parents[info.Start.Name] = info.Tape; info.Start.Parent.Tape == "" {
			continue
		}
		children++
		if s := info.Start; s.Transport != "http" || s.Parent.Server != s.Name || !strings.HasPrefix(s.Upstream, upstream.URL) || strings.Contains(s.Upstream, "hidden") {
			t.Errorf("a tape of %+v", s)
		}
	}
	if children != 2 || parents["new"] == "" || parents["old"] == "" {
		t.Fatalf("%d tapes of servers: %v", children, parents)
	}
	for name, call := range map[string]string{"new": "one", "old": "two"} {
		out, err := exec.Command("acptap", "--store", store, "export", "--raw", parents[name]).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{`"method":"tools/call"`, "echo of " + call, `"scheme":"Bearer"`} {
			if !strings.Contains(string(out), text) {
				t.Errorf("%s: not on the tape: %s\n%s", name, text, out)
			}
		}
		if strings.Contains(string(out), "very-secret") {
			t.Errorf("%s: on the tape: very-secret", name)
		}
	}
	out, err := exec.Command("acptap", "--store", store, "show", "--chat", "coder").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "new/echo") || !strings.Contains(string(out), "old/echo") {
		t.Errorf("the conversation: %v\n%s", err, out)
	}

	// The servers are gone, and their tapes are played in their place: from the store, and
	// from files without it.
	client := filepath.Join(t.TempDir(), "client.jsonl")
	err = os.WriteFile(client, []byte(`{"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[`+entries+`]}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"tools-1"}}}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"tools-1","prompt":[{"type":"text","text":"new/echo {\"message\":\"one\"}\nold/echo {\"message\":\"two\"}"}]}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("acptap", args...)
		cmd.Env = append(cmd.Environ(), "HTTP_PROXY=", "http_proxy=", "ALL_PROXY=", "all_proxy=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("replay", "client", "--compare", "none", client, "--", "acptap", "--store", store, "proxy", "--name", "again", "--mcp", "--", "tool-agent")
	upstream.Close()
	file, _, _ := strings.Cut(run("--store", store, "export", "--raw", "--mcp", "-o", t.TempDir(), "again"), "\n")
	for ref, store := range map[string]string{"again": store, file: t.TempDir()} {
		if out := run("--store", store, "replay", "client", "--mcp=replay", "--compare", "content", ref, "--", "tool-agent"); out != "" {
			t.Errorf("replayed from %s:\n%s", ref, out)
		}
	}
}

func TestOtherProxy(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"HTTPS_PROXY": "http://p:1"}, ""},
		{map[string]string{"HTTP_PROXY": "http://p:1"}, "HTTP_PROXY"},
		{map[string]string{"all_proxy": "socks5://p:1", "NO_PROXY": "example.com, 10.0.0.0/8"}, "all_proxy"},
		{map[string]string{"http_proxy": "http://p:1", "no_proxy": "example.com, 127.0.0.0/8"}, ""},
		{map[string]string{"http_proxy": "http://p:1", "NO_PROXY": "127.0.0.1"}, ""},
		{map[string]string{"http_proxy": "http://p:1", "NO_PROXY": "*"}, ""},
	}
	for _, tt := range tests {
		if got := otherProxy(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.env, got, tt.want)
		}
	}
}
