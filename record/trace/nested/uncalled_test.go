package nested_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace/nested"
)

const (
	starts   = `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a"}}}` + "\n"
	declares = `< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s"}}}` + "\n"
	plain    = `< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s"}}}` + "\n"
	lists    = `> {"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	none     = `< {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}` + "\n"
	direct   = `> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"everything","command":"npx","args":[],"env":[]}]}}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}` + "\n"
	some     = `< {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"echo","inputSchema":{}}]}}` + "\n"
)

// TestUncalled has servers that a session was set up with and that were never called.
func TestUncalled(t *testing.T) {
	local := func(text ...string) []server { return []server{{"everything", "aaaaaaaa", strings.Join(text, "")}} }
	turn := prompt("1s", "2") + answered("2s", "2")
	const url = "; other-one: named, never asked"
	for _, tt := range []struct {
		name, agent string
		servers     []server
		live        bool
		partial     bool
		exit        string // of the first server, after 40 ms
		want        string
	}{
		{"never started", head + turn, nil, false, false, "", "everything: named, never started" + url},
		{"before a turn", head, nil, false, false, "", "everything: named, never started" + url},
		{"live, before a turn", head + prompt("1s", "2"), nil, true, false, "", ""},
		{"live, after a turn", head + turn, nil, true, false, "", "everything: named, never started" + url},
		{"tapes may be missing", head + turn, local(starts, declares, lists, some), false, true, "", "everything: offered, never called"},
		{"refused", strings.Replace(head, `"result":{"sessionId":"s"}`, `"error":{"code":-32000,"message":"log in"}`, 1), nil, false, false, "", ""},
		{"not through acptap", hello + direct + turn, nil, false, false, "", ""},
		{"exited", head + turn, local(starts), false, false, `{"exit":{"code":127}}`, "everything: exited 127 after 40 ms" + url},
		{"ended by the agent", head + turn, local(starts, declares, "> EOF"), false, false, `{"exit":{"code":1}}`, "everything: offered, never called" + url},
		{"never answered", head + turn, local(starts), false, false, "", "everything: started, never answered" + url},
		{"declares no tools", head + turn, local(starts, plain), false, false, "", "everything: started, no tools" + url},
		{"lists no tools", head + turn, local(starts, declares, lists, none), false, false, "", "everything: started, no tools" + url},
		{"lists tools", head + turn, local(starts, declares, lists, some), false, false, "", "everything: offered, never called" + url},
		{"called", head + turn, append(local(asks("1.2s", "1.3s", "1", `"name":"echo"`, "")), server{"other-one", "bbbbbbbb", starts + declares}), false, false, "", "other-one: offered, never called"},
		{"started again", head + turn, append(local(starts), server{"everything", "aaaaaaaa", starts + declares}), false, false, `{"exit":{"code":1}}`, "everything: offered, never called" + url},
		{"started again, and worse", head + turn, append(local(starts, declares), server{"everything", "aaaaaaaa", starts + plain}), false, false, "", "everything: offered, never called" + url},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var eof bool
			if len(tt.servers) > 0 {
				tt.servers[0].text, eof = strings.CutSuffix(tt.servers[0].text, "> EOF")
			}
			j, _ := join(t, scene{tt.agent, tt.servers})
			j.Partial = tt.partial
			mark := func(raw string, dir wire.Direction) {
				j.Tapes[0].Add(&dialect.Frame{Frame: wire.Frame{Seq: 99, At: 40e6, Kind: wire.Mark, Dir: dir, Raw: []byte(raw)}})
			}
			if eof {
				mark(`{"eof":true}`, wire.ClientToAgent)
			}
			if tt.exit != "" {
				mark(tt.exit, wire.AgentToClient)
			}
			var got []string
			for _, u := range j.Uncalled(tt.live, "s") {
				got = append(got, u.Server+": "+u.String())
			}
			if got := strings.Join(got, "; "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A server that was called in one session is not idle in another.
func TestUncalledInSessions(t *testing.T) {
	other := strings.NewReplacer(`"id":1`, `"id":7`, "aaaaaaaa", "cccccccc", "bbbbbbbb", "dddddddd", `"sessionId":"s"`, `"sessionId":"s2"`)
	second := other.Replace(strings.TrimPrefix(head, hello))
	j, _ := join(t, scene{head + second, []server{{"everything", "cccccccc", asks("1.2s", "1.3s", "1", `"name":"echo"`, "")}}})
	var got []string
	for _, u := range j.Uncalled(false, "s", "s2") {
		got = append(got, u.Server+" "+u.Brief())
	}
	if got := strings.Join(got, "; "); got != "other-one never asked" {
		t.Errorf("got %q", got)
	}
	want := nested.Uncalled{Server: "everything", SetUps: []nested.SetUp{{Session: "s", Tape: 0, Frame: 4}}}
	if list := j.Uncalled(false, "s"); len(list) != 2 || !reflect.DeepEqual(list[0], want) {
		t.Errorf("got %+v, want %+v", list, want)
	}
}

// A server that was never started is so for each set-up that names it, and for those with
// a turn since, which has to end well.
func TestUncalledSetUps(t *testing.T) {
	other := strings.NewReplacer(`"id":1`, `"id":7`, "aaaaaaaa", "cccccccc", "bbbbbbbb", "dddddddd", `"sessionId":"s"`, `"sessionId":"s2"`)
	failed := strings.Replace(answered("3s", "2"), `"result":{"stopReason":"end_turn"}`, `"error":{"code":-32000,"message":"log in"}`, 1)
	for _, tt := range []struct {
		name, turn string
		turned     []bool
	}{
		{"a turn of one", prompt("1s", "2") + answered("2s", "2"), []bool{true, false}},
		{"a failed turn", prompt("1s", "2") + failed, []bool{false, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, _ := join(t, scene{agent: head + other.Replace(strings.TrimPrefix(head, hello)) + tt.turn})
			var got []bool
			for _, s := range j.Uncalled(false, "s", "s2")[0].SetUps {
				got = append(got, s.Turned)
			}
			if !slices.Equal(got, tt.turned) {
				t.Errorf("got %v, want %v", got, tt.turned)
			}
		})
	}
}
