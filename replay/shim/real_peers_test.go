package shim_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"
)

// An editor is a client made with the SDK.
type editor struct {
	acp.Client // for methods that the test's agent does not call

	mu      sync.Mutex
	updates []acp.SessionNotification // guarded by mu
}

func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, n)
	return nil
}

func (e *editor) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	selected := &acp.RequestPermissionOutcomeSelected{OptionId: r.Options[0].OptionId}
	return acp.RequestPermissionResponse{Outcome: acp.RequestPermissionOutcome{Selected: selected}}, nil
}

// forget clears what the editor shows.
func (e *editor) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = nil
}

// calls returns the ids of the tool calls that were announced.
func (e *editor) calls() (ids []acp.ToolCallId) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.updates {
		if call := n.Update.ToolCall; call != nil {
			ids = append(ids, call.ToolCallId)
		}
	}
	return ids
}

// outline returns what the editor shows: joined texts, and the final state of tool calls. If
// a tool call is announced twice, the second one counts.
func (e *editor) outline() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var lines []string
	calls := map[acp.ToolCallId]int{}
	text := func(who string, c acp.ContentBlock) {
		if n := len(lines); n > 0 && strings.HasPrefix(lines[n-1], who) {
			lines[n-1] += c.Text.Text
			return
		}
		lines = append(lines, who+c.Text.Text)
	}
	status := map[acp.ToolCallId]string{}
	for _, n := range e.updates {
		switch u := n.Update; {
		case u.UserMessageChunk != nil:
			text("user: ", u.UserMessageChunk.Content)
		case u.AgentMessageChunk != nil:
			text("agent: ", u.AgentMessageChunk.Content)
		case u.ToolCall != nil:
			calls[u.ToolCall.ToolCallId] = len(lines)
			status[u.ToolCall.ToolCallId] = string(u.ToolCall.Status)
			lines = append(lines, "tool: "+u.ToolCall.Title)
		case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
			status[u.ToolCallUpdate.ToolCallId] = string(*u.ToolCallUpdate.Status)
		}
	}
	for id, i := range calls {
		lines[i] += " " + status[id]
	}
	return strings.Join(lines, "\n")
}

// TestPeers: a client made with an SDK loads the sessions of agents written by others, and
// continues them.
func TestPeers(t *testing.T) {
	t.Parallel() // it waits for a slow agent
	// This agent claims to load sessions, but lacks the method. Each of its turns takes five
	// seconds.
	t.Run("acp-go-sdk", func(t *testing.T) {
		if testing.Short() {
			t.Skip("slow")
		}
		t.Parallel()
		agent := filepath.Join(t.TempDir(), "agent")
		if out, err := exec.Command("go", "build", "-o", agent, "github.com/coder/acp-go-sdk/example/agent").CombinedOutput(); err != nil {
			t.Fatalf("building the example agent: %v\n%s", err, out)
		}
		checkPeer(t, []string{agent}, 1)
	})
	// The example agent of the npm package @agentclientprotocol/sdk, from its tape. It says
	// that it does not load sessions. Each run is the same, so all of its sessions have the
	// same id. It counts its tool calls from call_1 in each turn.
	t.Run("npm", func(t *testing.T) {
		checkPeer(t, []string{os.Args[0], "role:tape", "../../testdata/tapes/acp-npm-sdk-again.jsonl"}, 2)
	})
}

func checkPeer(t *testing.T, agent []string, turns int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	open := func() (*editor, *acp.ClientSideConnection, acp.InitializeResponse, func()) {
		in, out, done := connect(t, dir, agent, nil)
		e := &editor{}
		conn := acp.NewClientSideConnection(e, in, out)
		r, err := conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
		if err != nil {
			t.Fatal(err)
		}
		return e, conn, r, func() {
			in.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
			io.Copy(io.Discard, out)
		}
	}
	first, conn, _, end := open()
	made, err := conn.NewSession(ctx, acp.NewSessionRequest{Cwd: "/w", McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	prompt := func(conn *acp.ClientSideConnection) {
		t.Helper()
		r, err := conn.Prompt(ctx, acp.PromptRequest{SessionId: made.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock("mend it")}})
		if err != nil || r.StopReason != acp.StopReasonEndTurn {
			t.Fatalf("got %+v, %v", r, err)
		}
	}
	said := ""
	for range turns {
		prompt(conn)
		said += "user: mend it\n" + first.outline() + "\n"
		first.forget()
	}
	end()

	second, conn, r, end := open()
	if !r.AgentCapabilities.LoadSession || r.AgentCapabilities.SessionCapabilities.List == nil {
		t.Errorf("the agent offers %+v", r.AgentCapabilities)
	}
	list, err := conn.ListSessions(ctx, acp.ListSessionsRequest{})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != made.SessionId {
		t.Fatalf("got %+v, %v", list, err)
	}
	if _, err := conn.LoadSession(ctx, acp.LoadSessionRequest{SessionId: made.SessionId, Cwd: "/w", McpServers: []acp.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	if got := second.outline() + "\n"; got != said {
		t.Errorf("after the load\n%s\nbefore\n%s", got, said)
	}
	for range turns {
		prompt(conn)
	}
	end()
	ids := second.calls()
	slices.Sort(ids)
	if unique := slices.Compact(slices.Clone(ids)); len(unique) != 4*turns || len(ids) != len(unique) {
		t.Errorf("the tool calls of %d turns have the ids %q", 2*turns, ids)
	}
}
