package drive_test

import (
	"context"
	"os"
	"testing"

	"github.com/coder/acp-go-sdk"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// A sdkBot is an agent made with a third-party library. Methods that it does not implement
// are never called.
type sdkBot struct {
	acp.Agent
	conn *acp.AgentSideConnection
}

func sdkAgent([]string) {
	bot := &sdkBot{}
	bot.conn = acp.NewAgentSideConnection(bot, os.Stdout, os.Stdin)
	<-bot.conn.Done()
}

func (b *sdkBot) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersionNumber}, nil
}

func (b *sdkBot) NewSession(context.Context, acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	return acp.NewSessionResponse{SessionId: "from-the-sdk"}, nil
}

func (b *sdkBot) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	tell := func(u acp.SessionUpdate) {
		b.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: p.SessionId, Update: u})
	}
	tell(acp.UpdateAgentThoughtText("Hm."))
	tell(acp.StartToolCall("sdk-1", "rm /tmp/sdk/project/tmp", acp.WithStartKind(acp.ToolKindDelete),
		acp.WithStartRawInput(map[string]any{"path": "/tmp/sdk/project/tmp"})))
	answer, err := b.conn.RequestPermission(ctx, acp.RequestPermissionRequest{
		SessionId: p.SessionId,
		ToolCall:  acp.ToolCallUpdate{ToolCallId: "sdk-1"},
		Options: []acp.PermissionOption{
			{Kind: acp.PermissionOptionKindRejectOnce, Name: "Keep it", OptionId: "keep"},
			{Kind: acp.PermissionOptionKindAllowOnce, Name: "Delete it", OptionId: "delete"},
		},
	})
	if err != nil {
		return acp.PromptResponse{}, err
	}
	if s := answer.Outcome.Selected; s != nil && s.OptionId == "delete" {
		tell(acp.UpdateToolCall("sdk-1", acp.WithUpdateStatus(acp.ToolCallStatusCompleted),
			acp.WithUpdateContent([]acp.ToolCallContent{acp.ToolContent(acp.TextBlock("gone"))})))
	}
	tell(acp.UpdateAgentMessageText("All "))
	tell(acp.UpdateAgentMessageText("clean."))
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func TestClientWithSDK(t *testing.T) {
	client := drive.Client{Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning)}, Start: replaytest.Role("sdk"), Level: compare.Content}
	client.Start.Cwd = "/tmp/sdk/project"
	report, diff, said, err := playing(t, client)
	const want = `--- tape
+++ now
@@ -17,4 +17,3 @@
     agent
       | All clean.
   turn 1: done
-  told: available_commands_update, usage_update
`
	if diff != want || len(report.Notes) > 0 {
		t.Errorf("got %v, %v\n%s\n%s", err, report, diff, said)
	}
}
