//go:build unix

package main

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestListenResume: a client loses the stream of a call and resumes it after the last event
// that it received. Events that the server sends again are on the tape twice, and count once.
func TestListenResume(t *testing.T) {
	resumed, ended := make(chan bool, 1), make(chan bool, 4)
	server := mcp.NewServer(&mcp.Implementation{Name: "walker", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "walk"}, func(ctx context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		for step := 1.0; step <= 6; step++ {
			if step == 6 {
				select {
				case <-resumed:
				case <-t.Context().Done():
				}
			}
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "t", Progress: step}); err != nil {
				return nil, nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "arrived"}}}, nil, nil
	})
	sdk := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		if in.Header.Get("Last-Event-Id") != "" {
			resumed <- true
		}
		sdk.ServeHTTP(w, in)
		ended <- true
	}))
	t.Cleanup(upstream.Close)
	dir := filepath.Join(t.TempDir(), "store")
	url, cmd, _ := startListening(t, dir, upstream.URL+"/mcp")

	version, session := "", ""
	ask := func(method, lastEvent, body string) (*http.Response, *bufio.Scanner) {
		t.Helper()
		in, _ := http.NewRequest(method, url, strings.NewReader(body))
		for name, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": version, "Mcp-Session-Id": session, "Last-Event-Id": lastEvent} {
			if v != "" {
				in.Header.Set(name, v)
			}
		}
		res, err := http.DefaultClient.Do(in)
		if err != nil || res.StatusCode/100 != 2 {
			t.Fatalf("%s: %v, %v", body, res, err)
		}
		return res, bufio.NewScanner(res.Body)
	}
	// read reads events as far as one that holds the text, and returns its id.
	read := func(lines *bufio.Scanner, text string) (id string) {
		t.Helper()
		for lines.Scan() {
			if v, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = v
			}
			if strings.Contains(lines.Text(), text) {
				return id
			}
		}
		t.Fatalf("no %s", text)
		return ""
	}
	res, lines := ask("POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	version, session = "2025-11-25", res.Header.Get("Mcp-Session-Id")
	read(lines, `"result"`)
	res.Body.Close()
	initialized, _ := ask("POST", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	initialized.Body.Close()
	res, lines = ask("POST", "", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"walk","arguments":{},"_meta":{"progressToken":"t"}}}`)
	third := read(lines, `"progress":3`)
	read(lines, `"progress":5`)
	res.Body.Close()
	for range 3 { // the server refuses a second stream while it considers the first one open
		<-ended
	}
	res, lines = ask("GET", third, "")
	read(lines, "arrived")
	res.Body.Close()
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()

	for _, tt := range []struct {
		args, line string
		times      int
	}{
		{"ls --json", `"frames":11,`, 1}, // two events of 13 came again
		{"export last", `"redelivered":true`, 2},
		{"show last", `notifications/progress .* sent again$`, 2},
		{"show last", `─ mark  +GET 4 /mcp · last-event-id ` + third, 1},
		{"show last", `← response  tools/call +arrived  [\d.]+ (s|ms|µs)`, 1},
		{"check last", `^nothing found$`, 1},
	} {
		out, err := exec.Command("acptap", append([]string{"--store", dir}, strings.Fields(tt.args)...)...).CombinedOutput()
		if n := len(regexp.MustCompile("(?m)"+tt.line).FindAll(out, -1)); err != nil || n != tt.times {
			t.Errorf("acptap %s: %v, %d times %s, want %d\n%s", tt.args, err, n, tt.line, tt.times, out)
		}
	}
}
