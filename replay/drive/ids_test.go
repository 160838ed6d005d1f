package drive_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// canned RESULT...: answers each request with the next result, and logs the requests.
func canned(results []string) {
	s := replaytest.NewStdio()
	for {
		m := s.Next()
		fmt.Fprintln(os.Stderr, m.Get("method").Text(), m.Get("params").Raw())
		if m.Get("id").Exists() && len(results) > 0 {
			s.Result(m, results[0])
			results = results[1:]
		}
	}
}

// The client sends the ids that the live agent made.
func TestClientLearns(t *testing.T) {
	const acp = `
c {"id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"id":0,"result":{"protocolVersion":1}}
`
	const mcp = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
`
	acpNow, mcpNow := `{"protocolVersion":1}`, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`
	tests := []struct {
		name    string
		tape    string
		results []string
		want    string // the last request
	}{
		{"cursor", mcp + `
c {"id":1,"method":"tools/list","params":{}}
a {"id":1,"result":{"tools":[],"nextCursor":"then"}}
c {"id":2,"method":"tools/list","params":{"cursor":"then"}}
a {"id":2,"result":{"tools":[]}}`,
			[]string{mcpNow, `{"tools":[],"nextCursor":"now"}`, `{"tools":[]}`},
			`tools/list {"cursor":"now"}`},
		{"task", mcp + `
c {"id":1,"method":"tools/call","params":{"name":"slow","task":{"ttl":1}}}
a {"id":1,"result":{"task":{"taskId":"then","status":"working"}}}
c {"id":2,"method":"tasks/result","params":{"taskId":"then"}}
a {"id":2,"result":{}}`,
			[]string{mcpNow, `{"task":{"taskId":"now","status":"working"}}`, `{}`},
			`tasks/result {"taskId":"now"}`},
		{"state of a data-layer session", mcp + `
c {"id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/session":{"sessionId":"s"}}}}
a {"id":1,"result":{"content":[],"_meta":{"io.modelcontextprotocol/session":{"sessionId":"s","state":"then"}}}}
c {"id":2,"method":"tools/call","params":{"name":"b","_meta":{"io.modelcontextprotocol/session":{"sessionId":"s","state":"then"}}}}
a {"id":2,"result":{}}`,
			[]string{mcpNow, `{"content":[],"_meta":{"io.modelcontextprotocol/session":{"sessionId":"n","state":"now"}}}`, `{}`},
			`tools/call {"name":"b","_meta":{"io.modelcontextprotocol/session":{"sessionId":"n","state":"now"}}}`},
		{"fork", acp + `
c {"id":1,"method":"session/new","params":{"cwd":"/home/ann/p","mcpServers":[]}}
a {"id":1,"result":{"sessionId":"s"}}
c {"id":2,"method":"session/fork","params":{"sessionId":"s","cwd":"/home/ann/p/sub"}}
a {"id":2,"result":{"sessionId":"f"}}
c {"id":3,"method":"session/close","params":{"sessionId":"f"}}
a {"id":3,"result":{}}`,
			[]string{acpNow, `{"sessionId":"s-now"}`, `{"sessionId":"f-now"}`, `{}`},
			`session/close {"sessionId":"f-now"}`},
		{"directory below another", acp + `
c {"id":1,"method":"session/new","params":{"cwd":"/home/ann/p","mcpServers":[]}}
a {"id":1,"result":{"sessionId":"s"}}
c {"id":2,"method":"session/new","params":{"cwd":"/home/ann/p/sub","mcpServers":[]}}
a {"id":2,"result":{"sessionId":"t"}}`,
			[]string{acpNow, `{"sessionId":"1"}`, `{"sessionId":"2"}`},
			`session/new {"cwd":"/tmp/now/sub","mcpServers":[]}`},
		{"another directory", acp + `
c {"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
a {"id":1,"result":{"sessionId":"s"}}`,
			[]string{acpNow, `{"sessionId":"1"}`},
			`session/new {"cwd":"/tmp/now","mcpServers":[]}`},
		{"config option", acp + `
c {"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
a {"id":1,"result":{"sessionId":"s","configOptions":[{"id":"m","name":"Model","category":"model","type":"select","currentValue":"a","options":[{"value":"a","name":"Slow"},{"value":"b","name":"Fast"}]}]}}
c {"id":2,"method":"session/set_config_option","params":{"sessionId":"s","configId":"m","value":"b"}}
a {"id":2,"result":{"configOptions":[]}}`,
			[]string{acpNow, `{"sessionId":"1","configOptions":[{"id":"llm","name":"The model","category":"model","type":"select","currentValue":"x","options":[{"group":"g","name":"G","options":[{"value":"x","name":"Slow"},{"value":"y","name":"Fast"}]}]}]}`, `{"configOptions":[]}`},
			`session/set_config_option {"sessionId":"1","configId":"llm","value":"y"}`},
		{"session of somebody else", acp + `
c {"id":1,"method":"session/list","params":{}}
a {"id":1,"result":{"sessions":[{"sessionId":"private","cwd":"/w"}]}}
c {"id":2,"method":"session/delete","params":{"sessionId":"private"}}
a {"id":2,"result":{}}`,
			[]string{acpNow, `{"sessions":[{"sessionId":"private","cwd":"/w"}]}`, `{}`},
			`session/list {}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := drive.Client{Tapes: []*record.Tape{replaytest.Tape(t, tt.tape)}, Start: replaytest.Role("canned", tt.results...), Level: compare.None}
			client.Start.Cwd = "/tmp/now"
			report, _, said, err := playing(t, client)
			lines := strings.Split(strings.TrimSpace(said), "\n")
			if got := lines[len(lines)-1]; err != nil || got != tt.want {
				t.Errorf("got %v, %v\n%s\nwant last %s", err, report, said, tt.want)
			}
		})
	}
}
