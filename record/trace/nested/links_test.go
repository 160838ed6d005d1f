package nested_test

import (
	"testing"

	"github.com/acptap/acptap/record/trace/nested"
)

// TestLinks has the ways in which a server's link gets to the agent.
func TestLinks(t *testing.T) {
	const (
		ours   = `"mcpServers":[{"name":"a","command":"/bin/acptap","args":["proxy","--parent","T/aaaaaaaa/a","--","x"]}]`
		theirs = `"mcpServers":[{"name":"a","command":"x"}]`
	)
	for _, tt := range []struct{ name, text, want string }{
		{"new", `
>- {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w",` + theirs + `}}
>~ {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w",` + ours + `}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`, "s1"},
		{"as the client asked", `
> {"jsonrpc":"2.0","id":"x","method":"session/new","params":{"cwd":"/w",` + ours + `}}
< {"jsonrpc":"2.0","id":"x","result":{"sessionId":"s1"}}`, "s1"},
		{"--parent=", `
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a","command":"y","args":["--parent=T/aaaaaaaa/a%2Fb","--","z"]}]}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`, "s1"},
		{"the server's own --parent", `
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a","command":"y","args":["proxy","--","z","--parent","T/aaaaaaaa/a"]}]}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`, ""},
		{"http", `
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a","type":"http","url":"http://127.0.0.1:80/aaaaaaaa-s/mcp?x=1","headers":[]}]}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`, "s1"},
		{"only the client's form", `
>- {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w",` + theirs + `}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`, ""},
		{"load", `
>- {"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/w",` + theirs + `}}
>~ {"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/w",` + ours + `}}
< {"jsonrpc":"2.0","id":1,"result":{}}`, "s1"},
		{"fork", `
>- {"jsonrpc":"2.0","id":1,"method":"session/fork","params":{"sessionId":"s0","cwd":"/w",` + theirs + `}}
>~ {"jsonrpc":"2.0","id":1,"method":"session/fork","params":{"sessionId":"s0","cwd":"/w",` + ours + `}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`, "s1"},
		{"refused", `
>- {"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/w",` + theirs + `}}
>~ {"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/w",` + ours + `}}
< {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no"}}`, ""},
		{"a load that acptap serves with a new session", `
>- {"jsonrpc":"2.0","id":7,"method":"session/load","params":{"sessionId":"s0","cwd":"/v","mcpServers":[]}}
>- {"jsonrpc":"2.0","id":8,"method":"session/load","params":{"sessionId":"s1","cwd":"/w",` + theirs + `}}
>- {"jsonrpc":"2.0","id":9,"method":"session/load","params":{"sessionId":"s2","cwd":"/w",` + theirs + `}}
>+ {"jsonrpc":"2.0","id":"acptap-1","method":"session/new","params":{"cwd":"/w",` + ours + `}}
<- {"jsonrpc":"2.0","id":"acptap-1","result":{"sessionId":"fresh"}}
<+ {"jsonrpc":"2.0","id":9,"result":{}}
<+ {"jsonrpc":"2.0","id":8,"result":{}}`, "s1"},
		{"a fork that acptap serves", `
>- {"jsonrpc":"2.0","id":8,"method":"session/fork","params":{"sessionId":"s0","cwd":"/w",` + theirs + `}}
>+ {"jsonrpc":"2.0","id":"acptap-1","method":"session/new","params":{"cwd":"/w",` + ours + `}}
<- {"jsonrpc":"2.0","id":"acptap-1","result":{"sessionId":"fresh"}}
<+ {"jsonrpc":"2.0","id":8,"result":{"sessionId":"s1"}}`, "s1"},
		{"through a chain of proxies", `
> {"jsonrpc":"2.0","id":1,"method":"_proxy/successor","params":{"method":"session/new","params":{"cwd":"/w",` + ours + `}}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`, "s1"},
		{"in a batch", `
> [{"jsonrpc":"2.0","id":1,"method":"session/list"},{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w",` + ours + `}}]
< [{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}]`, "s1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l nested.Links
			for _, f := range frames(t, hello+tt.text) {
				l.Add(&f)
			}
			if got, _ := l.Session("aaaaaaaa"); got != tt.want {
				t.Errorf("got session %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDeclares(t *testing.T) {
	var l nested.Links
	for _, f := range frames(t, head) {
		l.Add(&f)
	}
	for _, tt := range []struct {
		session, server string
		declared, ok    bool
	}{
		{"s", "everything", true, true},
		{"s", "other_one", true, true}, // as some agents write it
		{"s", "github", false, true},
		{"t", "everything", false, false},
	} {
		if declared, ok := l.Declares(tt.session, tt.server); declared != tt.declared || ok != tt.ok {
			t.Errorf("Declares(%s, %s): got %v, %v, want %v, %v", tt.session, tt.server, declared, ok, tt.declared, tt.ok)
		}
	}
}
