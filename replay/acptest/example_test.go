package acptest_test

import (
	"context"
	"fmt"

	"github.com/coder/acp-go-sdk"

	"github.com/acptap/acptap/replay/acptest"
)

// A notebook is the client under test. It permits everything and keeps files in
// memory. What it does not implement is not on the tape.
type notebook struct {
	acp.Client
}

func (notebook) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	if chunk := n.Update.AgentMessageChunk; chunk != nil {
		fmt.Printf("agent: %q\n", chunk.Content.Text.Text)
	}
	return nil
}

func (notebook) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	choice := r.Options[0]
	fmt.Println("permission:", choice.Name)
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(choice.OptionId)}, nil
}

func (notebook) WriteTextFile(_ context.Context, f acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	fmt.Printf("%s: %s", f.Path, f.Content)
	return acp.WriteTextFileResponse{}, nil
}

// A client that is made with github.com/coder/acp-go-sdk talks to an agent that is
// played from a tape. The tape was recorded in another directory, which does not
// matter.
func Example() {
	t := newT() // in a test, its *testing.T
	defer t.end()

	stdin, stdout := acptest.Agent(t, "testdata/greeting.jsonl", acptest.Live("greeter", "--acp"))
	conn := acp.NewClientSideConnection(notebook{}, stdin, stdout)

	ctx := context.Background()
	_, err := conn.Initialize(ctx, acp.InitializeRequest{
		ProtocolVersion:    acp.ProtocolVersionNumber,
		ClientCapabilities: acp.ClientCapabilities{Fs: acp.FileSystemCapabilities{WriteTextFile: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := conn.NewSession(ctx, acp.NewSessionRequest{Cwd: "/tmp/notes", McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := conn.Prompt(ctx, acp.PromptRequest{
		SessionId: session.SessionId,
		Prompt:    []acp.ContentBlock{acp.TextBlock("Write a greeting")},
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("turn:", turn.StopReason)

	// Output:
	// permission: Yes
	// /tmp/notes/greeting.txt: Hello, Ada!
	// agent: "It is "
	// agent: "written."
	// turn: end_turn
}
