package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/dialect"
)

// Of version 1 of ACP. A line of want is: kind, path, marks, the object's name; what
// is there, and what should be.
var acpTests = []struct {
	name, method, kind, value string
	want                      []string
}{
	{"a text chunk", "session/update", "notification",
		`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}`, nil},
	{"a member is missing", "session/update", "notification",
		`{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text"}}}`,
		[]string{
			"missing update.content.text of TextContent: nothing, not string",
			"missing sessionId of SessionNotification: nothing, not string",
		}},
	{"another type", "session/prompt", "request",
		`{"sessionId":7,"prompt":[{"type":"text","text":["a"]}]}`,
		[]string{"type sessionId of SessionId: 7, not string", "type prompt[0].text: array, not string"}},
	{"not of an enumeration", "session/prompt", "result",
		`{"stopReason":"done"}`,
		[]string{`not-listed stopReason of StopReason: "done", not end_turn or max_tokens or max_turn_requests or refusal or cancelled`}},
	{"a variant of no schema", "session/prompt", "request",
		`{"sessionId":"s","prompt":[{"type":"video","url":"u"}]}`,
		[]string{`unknown-variant prompt[0].type of ContentBlock: "video", not text or image or audio or resource_link or resource`}},
	{"no variant at all", "session/prompt", "request",
		`{"sessionId":"s","prompt":[{"text":"u"}]}`,
		[]string{`missing prompt[0].type of ContentBlock: nothing, not text or image or audio or resource_link or resource`}},
	{"the branch without a discriminator", "session/new", "request",
		`{"cwd":"/","mcpServers":[{"name":"a","command":"c","args":[]}]}`,
		[]string{"missing mcpServers[0].env lenient of McpServerStdio: nothing, not array"}},
	{"the branch that is named, though another is free", "session/new", "request",
		`{"cwd":"/","mcpServers":[{"type":"http","name":"a","url":"u"}]}`,
		[]string{"missing mcpServers[0].headers lenient of McpServerHttp: nothing, not array"}},
	{"a discriminator that nothing knows", "session/new", "request",
		`{"cwd":"/","mcpServers":[{"type":"tcp","name":"a","port":1}]}`,
		[]string{`unknown-variant mcpServers[0].type lenient of McpServer: "tcp", not http or sse or acp`}},
	{"one that does no harm", "session/new", "request",
		`{"cwd":"/","mcpServers":[{"type":"stdio","name":"a","command":"c","args":[],"env":[]}]}`,
		[]string{"unknown-key mcpServers[0].type of McpServerStdio"}},
	{"typed clients drop what does not fit", "session/update", "notification",
		`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","title":1,"locations":[{"path":"/a"},{"line":1}]}}`,
		[]string{
			"type update.title lenient: 1, not string or null",
			"missing update.locations[1].path lenient of ToolCallLocation: nothing, not string",
		}},
	{"null where an empty object is due", "session/load", "result", `null`,
		[]string{"null  of LoadSessionResponse: null, not object"}},
	{"no params", "session/list", "request", ``,
		[]string{"null  of ListSessionsRequest: nothing, not object"}},
	{"no params where some are due", "session/prompt", "request", ``,
		[]string{"missing  of PromptRequest: nothing, not object"}},
	{"an unknown key", "session/close", "request",
		`{"sessionId":"s","force":true,"_meta":{"a":1},"_ours":1}`,
		[]string{"unknown-key force of CloseSessionRequest"}},
	{"keys of an unstable, a former and another schema", "session/new", "result",
		`{"sessionId":"s","models":null}`,
		[]string{"unknown-key models removed of NewSessionResponse"}},
	{"the last of equal members counts", "session/close", "request",
		`{"sessionId":1,"sessionId":"s"}`, nil},
	{"also where the last is wrong", "session/close", "request",
		`{"sessionId":"s","sessionId":1}`,
		[]string{"type sessionId of SessionId: 1, not string"}},
	{"also in what is overridden", "session/prompt", "request",
		`{"sessionId":"s","prompt":[{"type":"nothing"}],"prompt":[]}`, nil},
	{"out of range", "initialize", "request",
		`{"protocolVersion":65536}`,
		[]string{"range protocolVersion of ProtocolVersion: 65536, not at most 65535"}},
	{"an integer that is written otherwise", "initialize", "request", `{"protocolVersion":1e0}`, nil},
	{"a path that has to be quoted", "elicitation/create", "result",
		`{"action":"accept","content":{"a.b":{}}}`,
		[]string{`type content["a.b"] of ElicitationContentValue: object, not array or string or number or boolean`}},
}

func TestACP(t *testing.T) {
	for _, tt := range acpTests {
		t.Run(tt.name, func(t *testing.T) {
			set := schema.Of(dialect.ACPv1, "1")
			s := set.Params(tt.method, tt.kind == "request")
			if tt.kind == "result" {
				s = set.Result(tt.method)
			}
			if got := problems(s, []byte(tt.value)); !slices.Equal(got, tt.want) {
				t.Errorf("%s: got\n%s\nwant\n%s", tt.value, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}
