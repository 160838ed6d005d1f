package relay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acptap/acptap/proxy/wire"
)

// TestSameAsDirect: the client of the Go SDK gets from each kind of its servers the
// same through a relay as without one, and all of one client is on one tape.
func TestSameAsDirect(t *testing.T) {
	sse := func(url string) mcp.Transport { return &mcp.SSEClientTransport{Endpoint: url} }
	quiet := func(url string) mcp.Transport { // its notifications would come at any time, or not at all
		return &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}
	}
	streamable := func(url string) mcp.Transport { return &mcp.StreamableClientTransport{Endpoint: url} }
	tests := []struct {
		name    string
		handler func() http.Handler
		client  func(url string) mcp.Transport
		closed  string // why the tape has ended; empty: it goes on
	}{
		{"stateful", func() http.Handler { return streamableHandler(nil) }, streamable, "the client deleted the session"},
		{"stateless", func() http.Handler { return streamableHandler(&mcp.StreamableHTTPOptions{Stateless: true}) }, streamable, ""},
		{"JSON", func() http.Handler { return streamableHandler(&mcp.StreamableHTTPOptions{JSONResponse: true}) }, quiet, "the client deleted the session"},
		{"event store", func() http.Handler {
			return streamableHandler(&mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)})
		}, streamable, "the client deleted the session"},
		{"HTTP+SSE", func() http.Handler {
			return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return sdkServer() }, nil)
		}, sse, "the event stream ended"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(tt.handler())
			defer s.Close()
			want := converse(t, tt.client(s.URL+"/mcp"), tt.name != "JSON")
			f := start(t, s.URL+"/mcp", nil)
			got := converse(t, tt.client(f.url), tt.name != "JSON")
			if got != want {
				t.Errorf("through the relay and direct:\n%s", cmp.Diff(strings.Split(got, "\n"), strings.Split(want, "\n")))
			}
			tape := f.tape(0)
			if tt.closed != "" {
				tape.await(func() bool { return tape.closed != "" })
				if tape.closed != tt.closed {
					t.Errorf("closed: %q, want %q", tape.closed, tt.closed)
				}
			}
			f.stop()
			all := f.all()
			if len(all) != 1 {
				for _, tape := range all {
					t.Log(tape)
				}
				t.Fatalf("%d tapes, want 1", len(all))
			}
			for _, text := range []string{`"method":"tools/call"`, `"name":"walk"`, "Hello Ada"} {
				if !strings.Contains(tape.String(), strings.ReplaceAll(text, `"`, `\"`)) {
					t.Errorf("not on the tape: %s\n%.3000s", text, tape)
				}
			}
			for i, s := range tape.streams {
				for dir, e := range s.ends {
					if e == nil {
						t.Errorf("stream %d: %s has not ended", i+1, wire.Direction(dir))
					}
				}
			}
		})
	}
}

func streamableHandler(o *mcp.StreamableHTTPOptions) http.Handler {
	one := sdkServer()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return one }, o)
}

// sdkServer returns a server with a tool that greets and one that tells how far it is.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	type who struct {
		Name string `json:"name"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "greet"}, func(_ context.Context, _ *mcp.CallToolRequest, args who) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello " + args.Name}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "walk"}, func(ctx context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		for i := range 3 {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: fmt.Sprintf("step %d of 3", i+1),
			})
			if err != nil {
				return nil, nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "arrived: step 3 of 3"}}}, nil, nil
	})
	return s
}

// converse makes a client use the server, and returns what it received, except for what
// depends on the revision: the client falls back to an older one if the server is slow. If
// the server can report progress, converse waits for that.
func converse(t *testing.T, transport mcp.Transport, progress bool) string {
	t.Helper()
	told := make(chan bool, 3)
	var mu sync.Mutex
	var seen []string
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, "progress "+req.Params.Message)
			told <- true
		},
	})
	session, err := c.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	note := func(what string, v any, err error) {
		text, _ := json.Marshal(v)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf("%s: %s %v", what, text, err))
	}
	note("initialize", session.InitializeResult().ServerInfo, nil)
	tools, err := session.ListTools(t.Context(), nil)
	note("tools", tools.Tools, err)
	for _, name := range []string{"Ada", strings.Repeat("long ", 40_000)} {
		answer, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{"name": name}})
		note("greet", answer.Content, err)
	}
	walk := &mcp.CallToolParams{Name: "walk", Arguments: map[string]any{}}
	walk.SetProgressToken("token")
	answer, err := session.CallTool(t.Context(), walk)
	note("walk", answer.Content, err)
	for range cap(told) {
		if progress {
			<-told
		}
	}
	answer, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"})
	note("nothing", answer, err)
	if err := session.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(seen) // notifications are handled concurrently with answers
	return strings.Join(seen, "\n")
}
