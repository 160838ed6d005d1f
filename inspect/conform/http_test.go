package conform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
)

// post is the head of a POST that is in order.
const post = "> #3 POST /mcp; Accept: application/json, text/event-stream; Content-Type: application/json; MCP-Protocol-Version: 2025-11-25; Mcp-Session-Id: 7c1e\n"

// Of what passes over HTTP, not all is of the protocol, and not all is of both sides.
func TestHTTP(t *testing.T) {
	const (
		without = "> #3 POST /mcp; Content-Type: application/json\n"
		list    = "> #3 {\"id\":1,\"method\":\"tools/list\"}\n"
		listed  = "< #3 200; Content-Type: application/json\n< #3 {\"id\":1,\"result\":{\"tools\":[]}}\n< #3 end\n"
		login   = "< #3 401; Content-Type: application/json; WWW-Authenticate: Bearer\n< #3 raw \"{\\\"error\\\":\\\"invalid_token\\\"}\"\n< #3 end\n"
	)
	tests := []struct {
		name, lines string
		want        []string
	}{
		{"heads that lack all", without + list + listed, []string{"MCP401 client 10"}},
		{"later than two frames may cross", "+ 1s\n" + without + list + listed, []string{"MCP401 client 10", "MCP403 client 10", "MCP405 client 10"}},
		{"acptap answers", "+ 1s\n" + without + list + "< #3 injected 502; Content-Type: text/plain\n< #3 injected body acptap: no response\n< #3 end\n", nil},
		{"a request whose conversation is guessed", `> #3 mark {"http":{"stream":3,"method":"POST","target":"/mcp","guessed":true}}` + "\n" + list + listed, nil},
		{"bytes are missing", without + list + `< mark {"gap":7}` + "\n" + listed, nil},
		{"the body broke off", post + list + "< #3 200; Content-Type: application/json\n< #3 raw \"{\\\"id\\\"\"\n" + `< #3 mark {"ended":{"stream":3,"by":"client","error":"the client left"}}` + "\n", nil},
		{"a login, and the same again", post + list + login + post + list + listed, nil},
		{"the same again before the refusal has ended", post + list + "< #3 401; Content-Type: application/json\n" + strings.ReplaceAll(post+list+listed, "#3", "#4"), nil},
		{"an error in an event", post + list + "< #3 400; Content-Type: text/event-stream\n< #3 {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"no\"}}\n< #3 end\n", nil},
		{"a refusal without an id", post + list + "< #3 400; Content-Type: application/json\n< #3 {\"id\":null,\"error\":{\"code\":-32000,\"message\":\"no session\"}}\n< #3 end\n", nil},
		{"a client that registers", "> #3 POST /register; Content-Type: application/json\n> #3 raw \"{\\\"client_name\\\":\\\"x\\\"}\"\n< #3 201; Content-Type: application/json\n< #3 raw \"{\\\"client_id\\\":\\\"y\\\"}\"\n< #3 end\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := blamed(check(frames(t, "= http 2025-11-25\n"+tt.lines)).Findings())
			if slices.Sort(got); !slices.Equal(got, tt.want) {
				t.Errorf("found %v, want %v", got, tt.want)
			}
		})
	}
}

// The requests of a login are not messages, even if the tape has nothing else.
func TestLoginAlone(t *testing.T) {
	got := blamed(check(frames(t, `> #1 GET /.well-known/oauth-protected-resource
< #1 200; Content-Type: application/json
< #1 raw "{\"resource\":\"http://x\"}"
< #1 end
> #2 POST /register; Content-Type: application/json
> #2 raw "{\"client_name\":\"x\"}"
< #2 400; Content-Type: application/json
< #2 raw "{\"error\":\"invalid_client_metadata\"}"
< #2 end
`)).Findings())
	if len(got) > 0 {
		t.Errorf("found %v", got)
	}
}

// A finding about a head says where the head is, and what its message asks for.
func TestHTTPPlace(t *testing.T) {
	all := check(frames(t, "= http 2025-11-25\n> #3 POST /mcp; MCP-Protocol-Version: 2025-11-25; Mcp-Session-Id: 7c1e\n> #3 {\"id\":1,\"method\":\"tools/list\"}\n< #3 200; Content-Type: text/html\n< #3 end\n")).Findings()
	var got []conform.Finding
	for _, f := range all {
		got = append(got, conform.Finding{Fault: f.Fault, Method: f.Method, At: f.At, Evidence: conform.Evidence{Seq: f.Seq, Because: f.Because}})
	}
	if len(all) != 2 || all[0].Method != "tools/list" || all[0].Seq != 10 || all[1].Seq != 12 || !slices.Equal(all[1].Because, []uint64{10}) || all[1].At <= all[0].At {
		t.Errorf("got %+v", got)
	}
}
