//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A played server is one that acptap replay agent --listen plays.
type played struct {
	url    string
	cmd    *exec.Cmd
	stderr *bufio.Reader
}

func playServer(t *testing.T, args ...string) *played {
	t.Helper()
	p := &played{cmd: exec.Command("acptap", append([]string{"replay", "agent", "--listen", "0"}, args...)...)}
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	p.stderr = bufio.NewReader(pipe)
	line, err := p.stderr.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "acptap: listening on ")
	if err != nil || !ok {
		rest, _ := io.ReadAll(p.stderr)
		t.Fatalf("stderr: %q%s, %v", line, rest, err)
	}
	p.url = url
	return p
}

// end asks it to end, and returns its status and its stderr.
func (p *played) end(t *testing.T) (code int, stderr string) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(p.stderr)
	if err != nil {
		t.Error(err)
	}
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), string(rest)
}

// TestReplayListen: a client gets the same from the played server as from the real one, over
// any transport; so do two clients at once. A further argument is an error.
func TestReplayListen(t *testing.T) {
	kinds := map[string]*mcp.StreamableHTTPOptions{
		"stateful":    nil,
		"stateless":   {Stateless: true},
		"JSON":        {JSONResponse: true},
		"event store": {EventStore: mcp.NewMemoryEventStore(nil)},
	}
	for name, options := range kinds {
		t.Run(name, func(t *testing.T) {
			one := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
			addTools(one)
			server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return one }, options))
			defer server.Close()
			dir := filepath.Join(t.TempDir(), "store")
			url, proxy, _ := startListening(t, dir, server.URL+"/mcp")
			want := walk(t, &mcp.StreamableClientTransport{Endpoint: url}, "Ada", name != "JSON")
			proxy.Process.Signal(syscall.SIGTERM)
			proxy.Wait()
			server.Close()

			p := playServer(t, "--store", dir, "last")
			if !strings.HasSuffix(p.url, "/mcp") {
				t.Errorf("it is played at %s", p.url)
			}
			for range 2 {
				got := walk(t, &mcp.StreamableClientTransport{Endpoint: p.url}, "Ada", name != "JSON")
				if got != want {
					t.Errorf("replayed and real:\n%s", cmp.Diff(strings.Split(got, "\n"), strings.Split(want, "\n")))
				}
			}
			if code, stderr := p.end(t); code != 0 || stderr != "" {
				t.Errorf("it ended with %d, and wrote %s", code, stderr)
			}
			file := filepath.Join(t.TempDir(), "tape.jsonl")
			if out, err := exec.Command("acptap", "export", "--store", dir, "-o", file, "last").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			p = playServer(t, file)
			if got := walk(t, &mcp.StreamableClientTransport{Endpoint: p.url}, "Ada", name != "JSON"); got != want {
				t.Errorf("replayed from an export:\n%s", cmp.Diff(strings.Split(got, "\n"), strings.Split(want, "\n")))
			}
			if code, stderr := p.end(t); code != 0 || stderr != "" {
				t.Errorf("it ended with %d, and wrote %s", code, stderr)
			}
			if name == "stateless" {
				return
			}
			p = playServer(t, "--store", dir, "last")
			var clients sync.WaitGroup
			for range 2 {
				clients.Go(func() {
					if got := walk(t, &mcp.StreamableClientTransport{Endpoint: p.url}, "Ada", name != "JSON"); got != want {
						t.Errorf("one of two clients:\n%s", cmp.Diff(strings.Split(got, "\n"), strings.Split(want, "\n")))
					}
				})
			}
			clients.Wait()
			if code, stderr := p.end(t); code != 0 || stderr != "" {
				t.Errorf("it ended with %d, and wrote %s", code, stderr)
			}
			p = playServer(t, "--store", dir, "last")
			if got := walk(t, &mcp.StreamableClientTransport{Endpoint: p.url}, "Eve", name != "JSON"); !strings.Contains(got, `arguments.message is "Eve", not "Ada"`) {
				t.Errorf("of another argument, the client gets\n%s", got)
			}
			if code, stderr := p.end(t); code != 1 || !strings.Contains(stderr, `is "Eve", not "Ada"`) {
				t.Errorf("it ended with %d, and wrote %s", code, stderr)
			}
		})
	}
}

// TestReplayListenStdio: a tape of stdio can be played over HTTP, and the client gets the
// same.
func TestReplayListenStdio(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	want := walk(t, &mcp.CommandTransport{Command: exec.Command("acptap", "proxy", "--store", dir, "--", "tool-server")}, "Ada", true)
	p := playServer(t, "--store", dir, "last")
	for range 2 {
		if got := walk(t, &mcp.StreamableClientTransport{Endpoint: p.url}, "Ada", true); got != want {
			t.Errorf("over HTTP and over stdio:\n%s", cmp.Diff(strings.Split(got, "\n"), strings.Split(want, "\n")))
		}
	}
	code, stderr := p.end(t)
	if code != 0 || strings.ReplaceAll(stderr, "tools: ready\n", "") != "" {
		t.Errorf("it ended with %d, and wrote %s", code, stderr)
	}
	p = playServer(t, "--json", "--store", dir, "last")
	if code, stderr := p.end(t); code != 1 || !strings.Contains(stderr, `"neverCame":[{"seq":`) {
		t.Errorf("without a client it ended with %d, and wrote %s", code, stderr)
	}
}

// walk makes a client use the server, and returns what it received. If progress is set, it
// waits for all progress notifications.
func walk(t *testing.T, transport mcp.Transport, name string, progress bool) string {
	told := make(chan float64, 2)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			told <- req.Params.Progress
		},
	})
	session, err := c.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Errorf("connecting: %v", err)
		return ""
	}
	var seen []string
	note := func(what string, v any, err error) {
		text, _ := json.Marshal(v)
		seen = append(seen, fmt.Sprintf("%s: %s %v", what, text, err))
	}
	note("initialize", session.InitializeResult().ServerInfo, nil)
	tools, err := session.ListTools(t.Context(), nil)
	note("tools", tools, err)
	answer, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"message": name}})
	note("echo", answer, err)
	params := &mcp.CallToolParams{Name: "work", Arguments: map[string]any{"message": "done"}}
	params.SetProgressToken("token")
	answer, err = session.CallTool(t.Context(), params)
	note("work", answer, err)
	var steps []float64
	for range cap(told) {
		if progress {
			steps = append(steps, <-told)
		}
	}
	slices.Sort(steps) // each is handled on its own
	note("steps", steps, nil)
	if err := session.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	return strings.Join(seen, "\n")
}
