package acptest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/coder/acp-go-sdk"

	"github.com/acptap/acptap/replay/acptest"
)

// The answer to a request that is not on the tape, and the test's report at its end.
func ExampleAgent_miss() {
	t := newT() // in a test, its *testing.T
	defer t.end()

	stdin, stdout := acptest.Agent(t, "testdata/greeting.jsonl")
	conn := acp.NewClientSideConnection(notebook{}, stdin, stdout)

	ctx := context.Background()
	conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	session, err := conn.NewSession(ctx, acp.NewSessionRequest{Cwd: "/tmp/notes", McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Prompt(ctx, acp.PromptRequest{
		SessionId: session.SessionId,
		Prompt:    []acp.ContentBlock{acp.TextBlock("Write a farewell")},
	})
	var refused *acp.RequestError
	if errors.As(err, &refused) {
		fmt.Println(refused.Message)
	}

	// Output:
	// acptap replay: session/prompt is not the recorded one; the tape has session/prompt in frame 6: prompt[0].text is "Write a farewell", not "Write a greeting"
	// testdata/greeting.jsonl: the client left the tape
	// miss: session/prompt is not the recorded one; the tape has session/prompt in frame 6
	//     prompt[0].text
	//   - "Write a greeting"
	//   + "Write a farewell"
	// never came: session/prompt, frame 6
	// never came: answer to session/request_permission, frame 9
	// never came: answer to fs/write_text_file, frame 11
}
