package dialect_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
)

// TestAreas lists the methods of each area: those in no list belong to the life cycle, and a
// new method in the tables must be added to a list or left out on purpose.
func TestAreas(t *testing.T) {
	want := map[dialect.Area][]string{
		dialect.NoArea: {"proxy/successor", "_proxy/successor"},
		dialect.Conversation: {"session/prompt", "session/cancel", "prompts/list", "prompts/get", "notifications/prompts/list_changed",
			"completion/complete", "sampling/createMessage"},
		dialect.Tools: {"tools/list", "tools/call", "notifications/tools/list_changed", "notifications/progress",
			"tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "notifications/tasks/status"},
		dialect.Permission: {"session/request_permission", "elicitation/create", "elicitation/complete", "notifications/elicitation/complete"},
		dialect.Services: {"fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill",
			"terminal/release", "mcp/connect", "mcp/message", "mcp/disconnect", "nes/start", "nes/suggest", "nes/accept", "nes/reject", "nes/close",
			"document/didOpen", "document/didChange", "document/didClose", "document/didSave", "document/didFocus",
			"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
			"notifications/resources/list_changed", "notifications/resources/updated", "roots/list", "notifications/roots/list_changed"},
	}
	for _, m := range dialect.Methods() {
		if m.Name == "session/update" {
			continue
		}
		expected := dialect.LifeCycle
		for area, methods := range want {
			if slices.Contains(methods, m.Name) {
				expected = area
			}
		}
		if got := dialect.AreaOf(m.Name, ""); got != expected {
			t.Errorf("%s: got area %d, want %d", m.Name, got, expected)
		}
	}
	for update, expected := range map[string]dialect.Area{
		"agent_thought_chunk": dialect.Conversation, "plan": dialect.Conversation, "notice": dialect.Conversation, "compaction_update": dialect.Conversation,
		"tool_call": dialect.Tools, "tool_call_content_chunk": dialect.Tools, "terminal_output_chunk": dialect.Tools,
		"usage_update": dialect.LifeCycle, "current_mode_update": dialect.LifeCycle, "state_update": dialect.LifeCycle, "_other": dialect.NoArea,
	} {
		if got := dialect.AreaOf("session/update", update); got != expected {
			t.Errorf("%s: got area %d, want %d", update, got, expected)
		}
	}
	for _, method := range []string{"_acme/index", "tools/other", ""} {
		if got := dialect.AreaOf(method, ""); got != dialect.NoArea {
			t.Errorf("%q: got area %d, want none", method, got)
		}
	}
}
