package dialect_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

func TestMatchFields(t *testing.T) {
	for _, tt := range []struct{ name, method, a, b, differs string }{
		{"a newer version", "initialize", `{"protocolVersion":1,"clientInfo":{"name":"a"}}`, `{"protocolVersion":2,"info":{}}`, "protocolVersion"},
		{"identity", "initialize", `{"protocolVersion":1,"clientInfo":{"name":"a"}}`, `{"protocolVersion":1}`, ""},
		{"secrets", "authenticate", `{"methodId":"a","_meta":{"token":1}}`, `{"methodId":"a","token":2}`, ""},
		{"anything new", "session/new", `{"cwd":"/a","mcpServers":[]}`, `{"cwd":"/b"}`, ""},
		{"load", "session/load", `{"sessionId":"a","cwd":"/a"}`, `{"sessionId":"b","cwd":"/b"}`, "sessionId"},
		{"null is absent", "session/resume", `{"sessionId":"a","replayFrom":null}`, `{"sessionId":"a"}`, ""},
		{"replay", "session/resume", `{"sessionId":"a","replayFrom":{"type":"start"}}`, `{"sessionId":"a"}`, "replayFrom.type"},
		{"text divided", "session/prompt", `{"sessionId":"s","prompt":[{"type":"text","text":"a\r\nb"}]}`, `{"prompt":[{"text":"a\n","type":"text","annotations":{}},{"type":"text","text":"b"}],"sessionId":"s"}`, ""},
		{"text", "session/prompt", `{"prompt":[{"type":"text","text":"a"}]}`, `{"prompt":[{"type":"text","text":"b"}]}`, "prompt[0].text"},
		{"link", "session/prompt", `{"prompt":[{"type":"text","text":"a"},{"type":"resource_link","uri":"file:///a","name":"x","size":1}]}`, `{"prompt":[{"type":"text","text":"a"},{"type":"resource_link","uri":"file:///b","name":"y"}]}`, "prompt[1].uri"},
		{"resource", "session/prompt", `{"prompt":[{"type":"resource","resource":{"uri":"u","text":"a","mimeType":"m"}}]}`, `{"prompt":[{"type":"resource","resource":{"uri":"u","text":"b"}}]}`, "prompt[0].resource.text"},
		{"image", "session/prompt", `{"prompt":[{"type":"image","data":"AA","mimeType":"image/png"}]}`, `{"prompt":[{"type":"image","data":"AA","mimeType":"image/gif"}]}`, "prompt[0].mimeType"},
		{"a block more", "session/prompt", `{"prompt":[{"type":"text","text":"a"}]}`, `{"prompt":[{"type":"text","text":"a"},{"type":"audio","data":"A"}]}`, "prompt[1].data prompt[1].type"},
		{"a future block", "session/prompt", `{"prompt":[{"type":"x","a":[1]}]}`, `{"prompt":[{"type":"x","a":[2]}]}`, "prompt[0].a[0]"},
		{"absent type is id", "session/set_config_option", `{"sessionId":"s","configId":"c","value":"v"}`, `{"sessionId":"s","configId":"c","value":"v","type":"id"}`, ""},
		{"boolean", "session/set_config_option", `{"configId":"c","value":"v"}`, `{"configId":"c","value":true,"type":"boolean"}`, "type value"},
		{"numbers", "tools/call", `{"name":"a","arguments":{"n":[1,1e2,0.50,-0,12345678901234567890]}}`, `{"name":"a","arguments":{"n":[1.0,100,5e-1,0,12345678901234567890]}}`, ""},
		{"large integers", "tools/call", `{"arguments":{"n":12345678901234567890}}`, `{"arguments":{"n":12345678901234567891}}`, "arguments.n"},
		{"arguments of any name", "tools/call", `{"arguments":{"env":"a","_meta":1}}`, `{"arguments":{"env":"b","_meta":2}}`, "arguments._meta arguments.env"},
		{"token", "tools/call", `{"name":"a","_meta":{"progressToken":1}}`, `{"name":"a","_meta":{"progressToken":2}}`, ""},
		{"input", "tools/call", `{"name":"a","inputResponses":{"q":{"action":"accept"}},"requestState":"x"}`, `{"name":"a"}`, "inputResponses.q.action requestState"},
		{"unknown", "_x/y", `{"a":{"b":[{},[],null]},"env":1,"headers":2,"_meta":3}`, `{"a":{"b":[{},{},null]}}`, "a.b[1]"},
		{"keys that look like paths", "_x/y", `{"a.b":1}`, `{"a":{"b":1}}`, `["a.b"] a.b`},
		{"the last of two", "_x/y", `{"a":1,"a":2}`, `{"a":2}`, ""},
		{"wrapped", "mcp/message", `{"connectionId":"c","method":"tools/call","params":{"name":"a","_meta":{}}}`, `{"connectionId":"c","method":"tools/call","params":{"name":"b"}}`, "params.name"},
		{"wrapped, unknown", "_proxy/successor", `{"method":"_x","params":{"a":1}}`, `{"method":"_y","params":{"a":1}}`, "method"},
		{"array", "_x/y", `[1]`, `[2]`, "[0]"},
		{"nothing", "_x/y", ``, `null`, ""},
		{"cancel", "$/cancel_request", `{"requestId":7}`, `{"requestId":"7"}`, "requestId"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := dialect.MatchFields(tt.method, []byte(tt.a))
			b := dialect.MatchFields(tt.method, []byte(tt.b))
			if got := differing(a, b); got != tt.differs {
				t.Errorf("%s and %s: got %q, want %q", tt.a, tt.b, got, tt.differs)
			}
		})
	}
}

func TestResponseMatchFields(t *testing.T) {
	for _, tt := range []struct{ name, method, a, b, differs string }{
		{"codes only", "session/new", `{"id":1,"error":{"code":-32000,"message":"a"}}`, `{"id":1,"error":{"code":-32000,"message":"b","data":1}}`, ""},
		{"codes", "session/new", `{"id":1,"error":{"code":-32000}}`, `{"id":1,"error":{"code":-32603}}`, "error.code"},
		{"success", "terminal/create", `{"id":1,"result":{"terminalId":"a"}}`, `{"id":1,"result":{"terminalId":"b"}}`, ""},
		{"no success", "terminal/create", `{"id":1,"result":{"terminalId":"a"}}`, `{"id":1,"error":{"code":1}}`, "error.code"},
		{"null", "fs/write_text_file", `{"id":1,"result":null}`, `{"id":1,"result":{}}`, ""},
		{"null, unknown", "_x", `{"id":1,"result":null}`, `{"id":1,"result":{}}`, ""},
		{"no code", "terminal/create", `{"id":1,"result":{}}`, `{"id":1,"error":"x"}`, "error.code"},
		{"choice", "session/request_permission", `{"id":1,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`, `{"id":1,"result":{"outcome":{"outcome":"cancelled"}}}`, "outcome.optionId outcome.outcome"},
		{"output", "terminal/output", `{"id":1,"result":{"output":"a","truncated":true,"exitStatus":{"exitCode":0,"signal":null}}}`, `{"id":1,"result":{"output":"b","exitStatus":{"exitCode":0}}}`, ""},
		{"exit", "terminal/wait_for_exit", `{"id":1,"result":{"exitCode":0}}`, `{"id":1,"result":{"exitCode":null,"signal":"SIGKILL"}}`, "exitCode signal"},
		{"whole", "tools/call", `{"id":1,"result":{"content":[{"text":"a"}]}}`, `{"id":1,"result":{"content":[{"text":"b"}]}}`, "content[0].text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := dialect.ResponseMatchFields(tt.method, wire.Scan([]byte(tt.a)))
			b := dialect.ResponseMatchFields(tt.method, wire.Scan([]byte(tt.b)))
			if got := differing(a, b); got != tt.differs {
				t.Errorf("%s and %s: got %q, want %q", tt.a, tt.b, got, tt.differs)
			}
		})
	}
}

// differing returns the paths of the fields that are not the same, sorted.
func differing(a, b []dialect.Field) string {
	var paths []string
	for _, f := range a {
		if !slices.Contains(b, f) {
			paths = append(paths, f.Path)
		}
	}
	for _, f := range b {
		if !slices.Contains(a, f) {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	return strings.Join(slices.Compact(paths), " ")
}

func TestClasses(t *testing.T) {
	for _, tt := range []struct {
		name, method, params string
		want                 []dialect.Field
	}{
		{"terminal", "terminal/create", `{"sessionId":"s","command":"ls","args":["-l"],"env":[],"cwd":"/p"}`, []dialect.Field{
			{Path: "sessionId", Value: `"s"`, Class: dialect.SessionID},
			{Path: "command", Value: `"ls"`},
			{Path: "args[0]", Value: `"-l"`},
			{Path: "cwd", Value: `"/p"`, Class: dialect.FilePath},
		}},
		{"next edits", "nes/suggest", `{"sessionId":"n","uri":"file:///a"}`, []dialect.Field{
			{Path: "sessionId", Value: `"n"`, Class: dialect.EditSessionID},
			{Path: "uri", Value: `"file:///a"`, Class: dialect.FilePath},
		}},
		{"update", "session/update", `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","content":[{"type":"terminal","terminalId":"x"}],"rawInput":{"path":"a<b"}}}`, []dialect.Field{
			{Path: "sessionId", Value: `"s"`, Class: dialect.SessionID},
			{Path: "update.content[0].terminalId", Value: `"x"`, Class: dialect.TerminalID},
			{Path: "update.content[0].type", Value: `"terminal"`},
			{Path: "update.rawInput.path", Value: `"a<b"`},
			{Path: "update.sessionUpdate", Value: `"tool_call"`},
			{Path: "update.toolCallId", Value: `"t"`, Class: dialect.EntityID},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := dialect.MatchFields(tt.method, []byte(tt.params))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.params, diff)
			}
		})
	}
	got := dialect.AllMatchFields([]byte(`{"_meta":{"cwd":1},"env":{}}`))
	want := []dialect.Field{{Path: "_meta.cwd", Value: "1"}, {Path: "env", Value: "{}"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("everything (-want +got):\n%s", diff)
	}
}

// FuzzMatchFields spells the same JSON in another way: the fields must not change.
func FuzzMatchFields(f *testing.F) {
	f.Add("session/prompt", []byte(`{"sessionId":"s","prompt":[{"type":"text","text":"a\r\nb"},{"type":"x"}]}`))
	f.Add("_x", []byte(`{"a":{"b":[{},[],null,1.50,"\u00e9"]},"a":1}`))
	f.Add("mcp/message", []byte(`{"method":"mcp/message","params":{"method":"tools/call","params":{"name":"a"}}}`))
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		dialect.MatchFields(method, params)
		e := wire.Scan(slices.Concat([]byte(`{"id":1,"result":`), params, []byte(`}`)))
		dialect.ResponseMatchFields(method, e)
		d := json.NewDecoder(bytes.NewReader(params))
		d.UseNumber()
		var v any
		if e.Kind != wire.Response || !json.Valid(params) || d.Decode(&v) != nil {
			return
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got, want := dialect.MatchFields(method, e.Result), dialect.MatchFields(method, again)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %+v, want as of %s: %+v", params, got, again, want)
		}
	})
}
