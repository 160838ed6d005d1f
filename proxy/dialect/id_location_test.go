package dialect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

func TestIDLocations(t *testing.T) {
	for _, tt := range []struct {
		method string
		want   []dialect.IDLocation
	}{
		{"terminal/create", []dialect.IDLocation{{Path: "result.terminalId", Class: dialect.TerminalID, New: true}}},
		{"$/cancel_request", []dialect.IDLocation{{Path: "params.requestId", Class: dialect.RequestID}}},
		{"session/prompt", nil},
	} {
		if diff := cmp.Diff(tt.want, dialect.IDLocations(tt.method)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.method, diff)
		}
	}
	// A method of MCP, or an unknown one, may have the ids that any MCP message may have.
	token := dialect.IDLocation{Path: "params._meta.progressToken", Class: dialect.ProgressToken, New: true}
	for method, want := range map[string]bool{"tools/call": true, "x/unknown": true, "session/new": false} {
		got := false
		for _, p := range dialect.IDLocations(method) {
			got = got || p == token
		}
		if got != want {
			t.Errorf("%s may have a progress token: got %t, want %t", method, got, want)
		}
	}
}

// Whose request, token or task a message names follows from who sends it.
func TestNamed(t *testing.T) {
	const task, subscription = `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"7"}}}`, `{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}`
	const client, agent = wire.ClientToAgent, wire.AgentToClient
	for _, tt := range []struct {
		method string
		class  dialect.Class
		from   wire.Direction
		params string
		id     string
		by     wire.Direction
	}{
		{"$/cancel_request", dialect.RequestID, client, `{"requestId":7}`, `7`, client},
		{"$/cancel_request", dialect.RequestID, agent, `{"requestId":"7"}`, `"7"`, agent},
		{"notifications/cancelled", dialect.RequestID, client, `{"requestId":7}`, `7`, client},
		{"notifications/cancelled", dialect.RequestID, agent, `{"requestId":7}`, `7`, agent},
		{"elicitation/create", dialect.RequestID, agent, `{"requestId":7}`, `7`, client},
		{"notifications/progress", dialect.ProgressToken, agent, `{"progressToken":7}`, `7`, client},
		{"notifications/progress", dialect.ProgressToken, client, `{"progressToken":7}`, `7`, agent},
		{"tools/call", dialect.ProgressToken, client, `{"_meta":{"progressToken":7}}`, ``, client}, // is made there
		{"tasks/get", dialect.TaskID, client, `{"taskId":"7"}`, `"7"`, agent},
		{"tasks/get", dialect.TaskID, agent, `{"taskId":"7"}`, `"7"`, client},
		{"notifications/tasks/status", dialect.TaskID, agent, `{"taskId":"7"}`, `"7"`, agent},
		{"elicitation/create", dialect.TaskID, agent, task, `"7"`, agent},
		{"notifications/message", dialect.RequestID, agent, subscription, `7`, client},
		{"session/prompt", dialect.RequestID, client, `{"requestId":7}`, ``, client},
	} {
		id, by := dialect.NamedID(tt.method, tt.class, tt.from, []byte(tt.params))
		if string(id) != tt.id || by != tt.by {
			t.Errorf("%v sends %s %s: got %s of %v, want %s of %v", tt.from, tt.method, tt.params, id, by, tt.id, tt.by)
		}
	}
}

func TestMade(t *testing.T) {
	for method, want := range map[string]string{"tools/call": "7", "sampling/createMessage": "7", "notifications/progress": "7", "session/prompt": ""} {
		if got := dialect.MadeID(method, dialect.ProgressToken, []byte(`{"progressToken":8,"_meta":{"progressToken":7}}`)); string(got) != want {
			t.Errorf("%s: got %s, want %s", method, got, want)
		}
	}
}

func TestNamedSession(t *testing.T) {
	for _, tt := range []struct{ message, want string }{
		{`{"id":1,"method":"session/prompt","params":{"sessionId":"s"}}`, "s"},
		{`{"id":1,"method":"_x/y","params":{"sessionId":"s"}}`, "s"},
		{`{"id":1,"method":"tools/call","sessionId":"s","params":{}}`, "s"},
		{`{"id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/session":{"sessionId":"s"}}}}`, "s"},
		{`{"id":1,"method":"nes/suggest","params":{"sessionId":"s"}}`, ""},
		{`{"id":1,"method":"session/new","params":{"sessionId":7}}`, ""},
		{`{"method":"$/cancel_request","params":{"requestId":1}}`, ""},
	} {
		e := wire.Scan([]byte(tt.message))
		if got := dialect.NamedSession(string(e.Method), e); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.message, got, tt.want)
		}
	}
}
