package dialect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// serverTests has frames and the servers in them: id of the request, kind and name.
var serverTests = []struct{ name, frame, want string }{
	{
		"version 1: stdio has no type",
		`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a","command":"/bin/a","args":["x"],"env":[]},{"type":"http","name":"b","url":"https://b/mcp","headers":[]},{"type":"sse","name":"c","url":"https://c/sse","headers":[]},{"type":"acp","name":"d","id":"7"}]}}`,
		"1 stdio a, 1 http b, 1 sse c, 1 acp d",
	},
	{
		"version 2: stdio has one, and perhaps no args",
		`{"jsonrpc":"2.0","id":"x","method":"session/resume","params":{"sessionId":"s","cwd":"/w","mcpServers":[{"type":"stdio","name":"a","command":"a"}]}}`,
		`"x" stdio a`,
	},
	{
		"all setups",
		`[{"id":1,"method":"session/new","params":{"mcpServers":[{"name":"n","command":"n"}]}}, {"id":2,"method":"session/load","params":{"mcpServers":[{"name":"l","command":"l"}]}},{"id":3,"method":"session/fork","params":{"mcpServers":[{"name":"f","command":"f"}]}},{"id":4,"method":"session/resume","params":{"mcpServers":[{"name":"r","command":"r"}]}}]`,
		"1 stdio n, 2 stdio l, 3 stdio f, 4 stdio r",
	},
	{
		"in a proxy chain",
		`{"id":5,"method":"proxy/successor","params":{"method":"_proxy/successor","params":{"method":"session/new","params":{"mcpServers":[{"name":"a","command":"a"}]}}}}`,
		"5 stdio a",
	},
	{"in a proxy chain, something else", `{"id":5,"method":"proxy/successor","params":{"method":"session/prompt","params":{"mcpServers":[{"name":"a","command":"a"}]}}}`, ""},
	{"none", `{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`, ""},
	{"absent", `{"id":1,"method":"session/new","params":{"cwd":"/w"}}`, ""},
	{"null", `{"id":1,"method":"session/new","params":{"mcpServers":null}}`, ""},
	{"no list", `{"id":1,"method":"session/new","params":{"mcpServers":{"a":{"command":"a"}}}}`, ""},
	{"an answer has none", `{"id":1,"result":{"mcpServers":[{"name":"a","command":"a"}]}}`, ""},
	{"a notification sets up nothing", `{"method":"session/new","params":{"mcpServers":[{"name":"a","command":"a"}]}}`, ""},
	{"next-edit sessions have none", `{"id":1,"method":"nes/start","params":{"mcpServers":[{"name":"a","command":"a"}]}}`, ""},
	{"odd entries", `{"id":1,"method":"session/new","params":{"mcpServers":[7,{"name":"a"},{"name":"b","command":7},{"name":"c","command":""},{"type":"http","name":"d"},{"type":"grpc","name":"e","command":"e"},{"type":7,"name":"f","command":"f"},{"type":null,"command":"g"}]}}`, "1  a, 1  b, 1  c, 1  d, 1  e, 1  f, 1 stdio "},
	{"of equal members the last", `{"id":1,"method":"session/new","params":{"mcpServers":[{"name":"x","command":"x"}],"mcpServers":[{"type":"http","name":"a","name":"b","type":"stdio","command":7,"command":"b"}]}}`, "1 stdio b"},
	{"cut off", `{"id":1,"method":"session/new","params":{"mcpServers":[{"name":"x","command":"x"}`, ""},
}

func TestServers(t *testing.T) {
	for _, tt := range serverTests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			servers, more := dialect.Servers([]byte(tt.frame))
			for _, s := range servers {
				got = append(got, fmt.Sprintf("%s %v %s", s.Request, s.Kind, s.Name))
			}
			if got := strings.Join(got, ", "); got != tt.want || more != 0 {
				t.Errorf("%s: got\n%s and %d more\nwant\n%s", tt.frame, got, more, tt.want)
			}
		})
	}
}

// Of a frame that holds more servers than are looked at, the others are counted.
func TestServersAreBounded(t *testing.T) {
	entries := strings.Repeat(`{"name":"a","command":"a"},`, 2000)
	one := `{"id":1,"method":"session/new","params":{"mcpServers":[` + strings.TrimSuffix(entries, ",") + `]}}`
	for frame, more := range map[string]int{one: 2000 - 1024, "[" + one + "," + one + "]": 4000 - 1024} {
		if got, rest := dialect.Servers([]byte(frame)); len(got) != 1024 || rest != more {
			t.Errorf("of a frame of %d bytes: %d servers and %d more, want 1024 and %d", len(frame), len(got), rest, more)
		}
	}
	deep := strings.Repeat(`{"id":1,"method":"proxy/successor","params":`, 17) + one + strings.Repeat("}", 17)
	if got, more := dialect.Servers([]byte(deep)); got != nil || more != 0 {
		t.Errorf("inside of 17 wrappings: %d servers, want none", len(got))
	}
	if got, more := dialect.Servers([]byte(strings.Replace(one, `"id":1`, `"id":1,"pad":"`+strings.Repeat("x", wire.MaxChecked)+`"`, 1))); got != nil || more != 0 {
		t.Errorf("of an oversized frame: %d servers, want none", len(got))
	}
}

// FuzzServers compares the servers found with those that a JSON decoder finds.
func FuzzServers(f *testing.F) {
	for _, tt := range serverTests {
		f.Add([]byte(tt.frame))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		got, _ := dialect.Servers(frame)
		end := 0
		for _, s := range got {
			if s.At.Start < end || s.At.End > len(frame) || s.At.Start >= s.At.End {
				t.Fatalf("%q: the server at %v overlaps with another, or the end", frame, s.At)
			}
			end = s.At.End
			entry := members(frame[s.At.Start:s.At.End])
			if entry == nil {
				t.Fatalf("%q: the server at %v is no object", frame, s.At)
			}
			var name string
			json.Unmarshal(entry["name"], &name)
			if name != s.Name {
				t.Errorf("%q: got the name %q, want %q", frame, s.Name, name)
			}
		}
		if wire.Scan(frame).Kind != wire.Request {
			return
		}
		var method string
		m := members(frame)
		json.Unmarshal(m["method"], &method)
		if !slices.Contains([]string{"session/new", "session/load", "session/resume", "session/fork"}, method) {
			return
		}
		var entries []json.RawMessage
		json.Unmarshal(members(m["params"])["mcpServers"], &entries)
		entries = slices.DeleteFunc(entries, func(e json.RawMessage) bool { return e[0] != '{' })
		if want := min(len(entries), 1024); len(got) != want {
			t.Errorf("%q: got %d servers, want %d", frame, len(got), want)
		}
	})
}

// members returns the members of an object; of equal ones the last.
func members(object []byte) (m map[string]json.RawMessage) {
	json.Unmarshal(object, &m)
	return m
}
