package host_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/host"
	"github.com/acptap/acptap/proxy/wire"
)

// A client speaks to a host.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	done  chan error
	names map[string]string // what stands for $A in scripts
	tapes *tapes
}

// start starts a host. Its server is this program.
func start(t *testing.T, h *host.Host, kind string) *client {
	t.Helper()
	if h.Command == nil {
		h.Command = []string{os.Args[0], asServer, kind}
	}
	c := &client{t: t, done: make(chan error, 1), names: map[string]string{}, tapes: &tapes{ended: make(chan *tape, 100)}}
	h.Begin = c.tapes.begin
	in, toHost := io.Pipe()
	fromHost, out := io.Pipe()
	c.in, c.out = toHost, bufio.NewReader(fromHost)
	go func() {
		err := (&proxy.Proxy{Peer: h.Peer(), In: in, Out: out, Err: io.Discard}).Run(t.Context())
		out.Close()
		c.done <- err
	}()
	t.Cleanup(func() {
		toHost.Close()
		io.Copy(io.Discard, c.out)
	})
	return c
}

// play plays a script: lines after > are sent, lines after < must come next. In these, a
// string "*" matches anything, and "$A" any text, the same everywhere.
func (c *client) play(script string) {
	c.t.Helper()
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "> "):
			for name, value := range c.names {
				line = strings.ReplaceAll(line, name, value)
			}
			if _, err := io.WriteString(c.in, line[2:]+"\n"); err != nil {
				c.t.Fatalf("%s: %v", line, err)
			}
		case strings.HasPrefix(line, "< "):
			got, err := c.out.ReadBytes('\n')
			if err != nil {
				c.t.Fatalf("got %v, want %s", err, line)
			}
			var want, said any
			if err := json.Unmarshal([]byte(line[2:]), &want); err != nil {
				c.t.Fatalf("%s: %v", line, err)
			}
			if err := json.Unmarshal(got, &said); err != nil || !c.matches(said, want) {
				c.t.Fatalf("got %.2000swant %s", got, line[2:])
			}
		case line != "":
			c.t.Fatalf("%s: neither > nor <", line)
		}
	}
}

func (c *client) matches(got, want any) bool {
	switch want := want.(type) {
	case string:
		text, ok := got.(string)
		switch {
		case want == "*":
			return got != nil
		case !strings.HasPrefix(want, "$"):
			return got == want
		case c.names[want] == "":
			c.names[want] = text
		}
		return ok && text != "" && c.names[want] == text
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for key := range want {
			if !c.matches(got[key], want[key]) {
				return false
			}
		}
		return true
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for i := range want {
			if !c.matches(got[i], want[i]) {
				return false
			}
		}
		return true
	}
	return got == want
}

// end closes the client's end, and wants the host to end with a status.
func (c *client) end(code int) {
	c.t.Helper()
	c.in.Close()
	c.over(code)
}

func (c *client) over(code int) {
	c.t.Helper()
	rest, _ := io.ReadAll(c.out)
	if len(rest) > 0 {
		c.t.Errorf("got more: %s", rest)
	}
	err := <-c.done
	var exit *proxy.ExitError
	switch {
	case code == 0 && err == nil:
	case !errors.As(err, &exit) || exit.Code != code:
		c.t.Errorf("got %v, want status %d", err, code)
	}
}

// tapes are the recordings of processes.
type tapes struct {
	mu    sync.Mutex
	all   []*tape
	ended chan *tape
}

func (s *tapes) begin(session string) (host.Journal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &tape{session: session, tapes: s}
	s.all = append(s.all, t)
	return t, nil
}

// A tape is what one process and the host said to each other.
type tape struct {
	session string
	tapes   *tapes
	sent    bytes.Buffer
	code    int
}

func (t *tape) Append(dir wire.Direction, _ wire.Origin, p []byte) error {
	if dir == wire.ClientToAgent {
		t.sent.Write(p)
	}
	return nil
}
func (t *tape) EOF(wire.Direction)                                   {}
func (t *tape) ReadFailed(wire.Direction, error)                     {}
func (t *tape) Signal(os.Signal)                                     {}
func (t *tape) Fault(error)                                          {}
func (t *tape) Note(wire.Direction, wire.Marked)                     {}
func (t *tape) Exit(code int, _ os.Signal, _ [wire.Directions]int64) { t.code = code }
func (t *tape) StartFailed(code int, _ error)                        { t.code = code }
func (t *tape) Close() error                                         { t.tapes.ended <- t; return nil }

const (
	hello  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`
	opened = `> ` + hello + `
		< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"*","serverInfo":"*","capabilities":"*"}}
		> {"jsonrpc":"2.0","method":"notifications/initialized"}
		`
)

// call is a call of a tool, with members next to method and in params.
func call(id int, tool, beside, params string) string {
	return fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call"%s,"params":{"name":%q%s}}`+"\n", id, beside, tool, params)
}

// said is the answer to that call.
func said(id int, text, beside, result string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d%s,"result":{"content":[{"type":"text","text":%s}]%s}}`+"\n", id, beside, quoted(text), result)
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// refused is an error.
func refused(id, code int) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":"*"}}`+"\n", id, code)
}

const (
	metaA = `,"_meta":{"io.modelcontextprotocol/session":{"sessionId":"$A"}}`
	metaB = `,"_meta":{"io.modelcontextprotocol/session":{"sessionId":"$B"}}`
	useA  = `,"_meta":{"io.modelcontextprotocol/session":{"sessionId":"$A","state":"*","expiresAt":"*"}}`
	useB  = `,"_meta":{"io.modelcontextprotocol/session":{"sessionId":"$B","state":"*","expiresAt":"*"}}`

	besideA = `,"sessionId":"$A"`
	besideB = `,"sessionId":"$B"`
)

// request is a request with members next to method, and with params.
func request(id int, method, beside, params string) string {
	return fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":%q%s,"params":{%s}}`+"\n", id, method, beside, params)
}

func answer(id int, beside, result string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d%s,"result":%s}`+"\n", id, beside, result)
}

const (
	lease  = `{"session":{"sessionId":"%s","state":"*","expiresAt":"*"}}`
	helloA = `{"protocolVersion":"*","serverInfo":"*","capabilities":{}}`
)

func makeDLS(id int, name string) string {
	return request(id, "sessions/create", "", "") + answer(id, "", fmt.Sprintf(lease, name))
}

func makeA1(id int, name string) string {
	return request(id, "session/create", "", `"capabilities":{"roots":{}}`) + answer(id, "", `{"sessionId":"`+name+`"}`)
}

func makeA2(id int, name string) string {
	return strings.Replace("> "+hello+"\n", `"id":0`, fmt.Sprintf(`"id":%d`, id), 1) + answer(id, `,"sessionId":"`+name+`"`, helloA)
}

// scripts are the rules of each proposal, each script with a host of its own.
var scripts = []struct {
	name     string
	proposal dialect.Proposal
	host     host.Host
	server   string
	script   string
}{
	{name: "dls: capability, states apart, delete, unknown", proposal: dialect.DataLayer, script: `> ` + hello + `
		< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"*","serverInfo":"*","capabilities":{"sessions":{}}}}
		> {"jsonrpc":"2.0","method":"notifications/initialized"}
		` + makeDLS(1, "$A") + makeDLS(2, "$B") +
		call(3, "set", "", `,"arguments":{"value":"a"}`+metaA) + said(3, "ok", "", useA) +
		call(4, "set", "", `,"arguments":{"value":"b"}`+metaB) + said(4, "ok", "", useB) +
		call(5, "get", "", metaA) + said(5, "a", "", useA) +
		call(6, "get", "", metaB) + said(6, "b", "", useB) +
		call(7, "get", "", "") + said(7, "", "", "") +
		call(8, "params", "", metaA) + said(8, `{"name":"params","_meta":{}}`, "", useA) + request(9, "nonsense", "", metaA[1:]) + refused(9, -32601) +
		request(10, "sessions/delete", "", metaA[1:]) + answer(10, "", "{}") +
		call(11, "get", "", metaA) + `< {"jsonrpc":"2.0","id":11,"error":{"code":-32043,"message":"*","data":{"sessionId":"$A"}}}
		` + request(12, "sessions/delete", "", metaA[1:]) + `< {"jsonrpc":"2.0","id":12,"error":{"code":-32043,"message":"*","data":{"sessionId":"$A"}}}
		` + request(13, "sessions/delete", "", "") + refused(13, -32602) +
		call(14, "get", "", metaB) + said(14, "b", "", useB)},
	{name: "dls: refusals", proposal: dialect.DataLayer, script: request(1, "sessions/create", "", "") + refused(1, -32600) + opened +
		request(2, "sessions/create", "", `"_meta":{"io.modelcontextprotocol/session":{"sessionId":"x"}}`) + refused(2, -32602) +
		request(3, "session/create", "", "") + refused(3, -32601) + request(4, "session/delete", "", "") + refused(4, -32601) +
		call(5, "get", "", `,"_meta":{"io.modelcontextprotocol/session":{}}`) + refused(5, -32602) +
		call(6, "get", `,"sessionId":"x"`, "") + said(6, "", "", "") + request(7, "terminate", "", "") + refused(7, -32601)},
	{name: "dls: modern", proposal: dialect.DataLayer, script: request(1, "server/discover", "", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`) +
		answer(1, "", `{"resultType":"complete","capabilities":{"sessions":{}}}`) +
		request(2, "sessions/create", "", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`) +
		answer(2, "", `{"resultType":"complete",`+fmt.Sprintf(lease, "$A")[1:]) +
		call(3, "hello", "", metaA) + said(3, " false", "", useA) +
		request(4, "sessions/delete", "", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+metaA[len(`,"_meta":{`):]) + answer(4, "", `{"resultType":"complete"}`)},
	{name: "dls: what the server says", proposal: dialect.DataLayer, script: opened + makeDLS(1, "$A") +
		call(2, "ask", "", metaA) + `< {"jsonrpc":"2.0","id":"s2:7","method":"roots/list","params":{"_meta":{"progressToken":"s2:1","io.modelcontextprotocol/session":{"sessionId":"$A"}}}}
		> {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"s2:1","progress":1}}
		> {"jsonrpc":"2.0","id":"s2:7","result":{"roots":[]}}
		` + said(2, `7 {"roots":[]}`, "", useA) +
		call(3, "get", "", metaA) + said(3, `+progress{"progressToken":1,"progress":1}`, "", useA) +
		call(4, "askText", "", metaA) + `< {"jsonrpc":"2.0","id":"s2:\"seven\"","method":"roots/list","params":{"_meta":{"io.modelcontextprotocol/session":{"sessionId":"$A"}}}}
		> {"jsonrpc":"2.0","id":"s2:\"seven\"","result":{}}
		` + said(4, `"seven" {}`, "", useA) +
		call(5, "ask", "", "") + `< {"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"_meta":{"progressToken":1}}}
		> {"jsonrpc":"2.0","id":7,"result":{}}
		` + said(5, `7 {}`, "", "") +
		call(6, "tell", "", `,"_meta":{"progressToken":"mine",`+metaA[len(`,"_meta":{`):]) +
		`< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1` + metaA + `}}
		` + said(6, "told", "", useA) +
		call(7, "giveUp", "", metaA) + `< {"jsonrpc":"2.0","id":"s2:8","method":"ping","params":{` + metaA[1:] + `}}
		< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s2:8"` + metaA + `}}
		` + said(7, "ok", "", useA)},
	{name: "dls: what the client says", proposal: dialect.DataLayer, script: opened + makeDLS(1, "$A") +
		call(2, "hang", "", metaA) + `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
		` + said(2, "given up", "", useA) + `> {"jsonrpc":"2.0","method":"notifications/roots/list_changed"}
		` + call(3, "get", "", metaA) + said(3, "+roots", "", useA) + call(4, "get", "", "") + said(4, "+roots", "", "") +
		`> {"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{` + metaA[1:] + `}}
		` + call(5, "get", "", metaA) + said(5, "+roots+roots", "", useA) + call(6, "get", "", "") + said(6, "+roots", "", "") +
		`> [{"jsonrpc":"2.0","id":7,"method":"ping","params":{` + metaA[1:] + `}},{"jsonrpc":"2.0","id":"x","method":"nonsense","params":{` + metaA[1:] + `}}]
		< {"jsonrpc":"2.0","id":7,"result":{` + useA[1:] + `}}
		< {"jsonrpc":"2.0","id":"x","error":"*"}
		> {"jsonrpc":
		< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}
		` + call(8, "long", "", metaA) + `< {"jsonrpc":"2.0","id":8,"result":{"content":"*"` + useA + `}}`},
	{name: "dls: a session's process is initialised as the first one", proposal: dialect.DataLayer, script: opened + makeDLS(1, "$A") +
		call(2, "hello", "", metaA) + said(2, `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}} true`, "", useA)},
	{name: "dls: a process dies", proposal: dialect.DataLayer, script: opened + makeDLS(1, "$A") +
		call(2, "die", "", metaA) + refused(2, -32603) +
		call(3, "get", "", metaA) + `< {"jsonrpc":"2.0","id":3,"error":{"code":-32043,"message":"*","data":{"sessionId":"$A"}}}
		` + call(4, "get", "", "") + said(4, "", "", "")},
	{name: "dls: open requests of a session that is deleted", proposal: dialect.DataLayer, script: opened + makeDLS(1, "$A") +
		call(2, "hang", "", metaA) + request(3, "sessions/delete", "", metaA[1:]) + refused(2, -32603) + answer(3, "", "{}")},
	{name: "limit", proposal: dialect.DataLayer, host: host.Host{Max: 1}, script: opened + makeDLS(1, "$A") +
		request(2, "sessions/create", "", "") + refused(2, -32000) +
		request(3, "sessions/delete", "", metaA[1:]) + answer(3, "", "{}") + makeDLS(4, "$B")},
	{name: "warm", proposal: dialect.DataLayer, host: host.Host{Max: 2, Warm: 2}, script: opened + makeDLS(1, "$A") + makeDLS(2, "$B") +
		request(3, "sessions/create", "", "") + refused(3, -32000) + call(4, "hello", "", metaB) +
		said(4, `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}} true`, "", useB)},
	{name: "dls: without sessions", proposal: dialect.DataLayer, host: host.Host{Max: -1}, script: `> ` + hello + `
		` + answer(0, "", helloA) + request(1, "sessions/create", "", "") + refused(1, -32601) + call(2, "get", "", metaA) + said(2, "", "", "")},
	{name: "step aside: capability", proposal: dialect.DataLayer, server: "capability", host: host.Host{Max: 16, Warm: 1}, script: `> ` + hello + `
		` + answer(0, "", `{"protocolVersion":"*","serverInfo":"*","capabilities":{"sessions":{}}}`) +
		request(1, "sessions/create", "", "") + refused(1, -32601) + call(2, "params", "", metaA) + `< {"jsonrpc":"2.0","id":2,"result":{"content":"*"}}`},
	{name: "step aside: id", proposal: dialect.SEP1364A2, server: "id", script: `> ` + hello + `
		` + answer(0, `,"sessionId":"own"`, helloA) + call(1, "get", `,"sessionId":"own"`, "") + said(1, "", "", "")},
	{name: "step aside: id, alternative 1", proposal: dialect.SEP1364A1, server: "id", script: `> ` + hello + `
		` + answer(0, `,"sessionId":"own"`, helloA)},

	{name: "a1: capability, states apart, delete, unknown", proposal: dialect.SEP1364A1, script: `> ` + hello + `
		` + answer(0, "", `{"protocolVersion":"*","serverInfo":"*","capabilities":{"sessions":{"required":false}}}`) +
		makeA1(1, "$A") + request(2, "sessions/create", "", `"capabilities":{}`) + answer(2, "", `{"sessionId":"$B"}`) +
		call(3, "set", besideA, `,"arguments":{"value":"a"}`) + said(3, "ok", besideA, "") +
		call(4, "set", besideB, `,"arguments":{"value":"b"}`) + said(4, "ok", besideB, "") +
		call(5, "get", besideA, "") + said(5, "a", besideA, "") + call(6, "get", besideB, "") + said(6, "b", besideB, "") +
		call(7, "get", `,"sessionId":null`, "") + said(7, "", "", "") +
		request(8, "nonsense", besideA, "") + refused(8, -32601) +
		request(9, "session/delete", "", `"sessionId":"$A"`) + answer(9, "", "{}") +
		call(10, "get", besideA, "") + refused(10, -32602) + request(11, "session/delete", besideA, "") + refused(11, -32602) +
		request(12, "sessions/delete", besideB, "") + answer(12, "", "{}") + request(13, "session/delete", "", "") + refused(13, -32602) +
		request(14, "session/create", "", `"sessionId":"$A","capabilities":{}`) + refused(14, -32602) + call(15, "get", "", "") + said(15, "", "", "")},
	{name: "a1: what the client does not offer to a session", proposal: dialect.SEP1364A1, script: opened +
		request(1, "session/create", "", `"capabilities":{"sampling":{}}`) + answer(1, "", `{"sessionId":"$A"}`) +
		call(2, "ask", besideA, "") + said(2, "7 the client does not offer roots/list in this session", besideA, "") +
		request(3, "session/create", "", `"sessionId":"$A","capabilities":{"roots":{}}`) + answer(3, "", `{"sessionId":"$A"}`) +
		call(4, "ask", besideA, "") + `< {"jsonrpc":"2.0","id":"s2:7","sessionId":"$A","method":"roots/list","params":{"_meta":{"progressToken":"s2:1"}}}
		> {"jsonrpc":"2.0","id":"s2:7","sessionId":"$A","result":{"roots":[]}}
		` + said(4, `7 {"roots":[]}`, besideA, "") +
		call(5, "hello", besideA, "") + said(5, `{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}} true`, besideA, "")},
	{name: "a1: initialize without capabilities", proposal: dialect.SEP1364A1, script: `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}
		` + answer(0, "", `{"protocolVersion":"*","serverInfo":"*","capabilities":"*"}`) +
		call(1, "hello", "", "") + said(1, `{"protocolVersion":"2025-06-18","capabilities":{}} false`, "", "")},
	{name: "a1: required", proposal: dialect.SEP1364A1, host: host.Host{Max: 16, Required: true}, script: `> ` + hello + `
		` + answer(0, "", `{"protocolVersion":"*","serverInfo":"*","capabilities":{"sessions":{"required":true}}}`) +
		call(1, "get", "", "") + refused(1, -32600) + request(2, "ping", "", "") + answer(2, "", "{}") + makeA1(3, "$A") + call(4, "get", besideA, "") + said(4, "", besideA, "")},
	{name: "a1: a process dies", proposal: dialect.SEP1364A1, script: opened + makeA1(1, "$A") + call(2, "die", besideA, "") + refused(2, -32603) + call(3, "get", besideA, "") + refused(3, -32602)},

	{name: "a2: sessions, again, terminate, unknown", proposal: dialect.SEP1364A2, script: makeA2(0, "$A") + makeA2(1, "$B") + `> {"jsonrpc":"2.0","method":"notifications/initialized"}
		` + call(2, "set", besideA, `,"arguments":{"value":"a"}`) + said(2, "ok", besideA, "") +
		call(3, "set", besideB, `,"arguments":{"value":"b"}`) + said(3, "ok", besideB, "") +
		call(4, "get", besideA, "") + said(4, "a", besideA, "") + call(5, "get", "", "") + said(5, "a", "", "") + call(6, "get", besideB, "") + said(6, "b", besideB, "") +
		request(7, "initialize", besideB, `"protocolVersion":"2025-06-18"`) + answer(7, besideB, helloA) + call(8, "get", besideB, "") + said(8, "b", besideB, "") +
		request(9, "initialize", `,"sessionId":"x"`, "") + refused(9, -32602) +
		request(10, "session/create", "", "") + refused(10, -32601) + request(11, "sessions/delete", "", "") + refused(11, -32601) +
		call(12, "ask", besideB, "") + `< {"jsonrpc":"2.0","id":"s2:7","sessionId":"$B","method":"roots/list","params":{"_meta":{"progressToken":"s2:1"}}}
		> {"jsonrpc":"2.0","id":"s2:7","sessionId":"$B","result":{}}
		` + said(12, `7 {}`, besideB, "") +
		call(13, "hello", besideB, "") + said(13, `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}} true`, besideB, "") +
		request(14, "terminate", "", `"sessionId":"$A"`) + answer(14, "", "{}") + call(15, "get", besideA, "") + refused(15, -32602) +
		call(16, "get", "", "") + refused(16, -32602) + request(17, "initialize", besideA, "") + refused(17, -32602) +
		request(18, "terminate", besideB, "") + answer(18, "", "{}") + makeA2(19, "$C") + request(20, "terminate", "", "") + refused(20, -32602)},
	{name: "a2: limit", proposal: dialect.SEP1364A2, host: host.Host{Max: 1}, script: makeA2(0, "$A") + request(1, "initialize", "", "") + refused(1, -32000)},
	{name: "a2: required", proposal: dialect.SEP1364A2, host: host.Host{Max: 1, Required: true}, script: makeA2(0, "$A") + call(1, "get", "", "") + refused(1, -32600) + call(2, "get", besideA, "") + said(2, "", besideA, "")},
	{name: "a2: without sessions", proposal: dialect.SEP1364A2, host: host.Host{Max: -1}, script: `> ` + hello + `
		` + answer(0, "", helloA) + `> {"jsonrpc":"2.0","method":"notifications/initialized"}
		` + call(1, "hello", "", "") + `< {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"$hello"}]}}
		` + request(2, "initialize", `,"sessionId":"x"`, "") + refused(2, -32602) + request(3, "terminate", "", "") + refused(3, -32602)},
	{name: "a2: a process dies", proposal: dialect.SEP1364A2, script: makeA2(0, "$A") + makeA2(1, "$B") + call(2, "die", besideA, "") + refused(2, -32603) + call(3, "get", besideB, "") + said(3, "", besideB, "")},
	{name: "a2: the server refuses", proposal: dialect.SEP1364A2, server: "refuses", script: `> ` + hello + `
		` + refused(0, -32602) + strings.Replace("> "+hello+"\n", `"id":0`, `"id":1`, 1) + refused(1, -32602)},
}

func TestRules(t *testing.T) {
	for _, tt := range scripts {
		t.Run(tt.name, func(t *testing.T) {
			h := tt.host
			h.Proposal = tt.proposal
			if h.Idle = time.Hour; h.Max == 0 {
				h.Max = 16
			}
			h.Max = max(h.Max, 0)
			c := start(t, &h, tt.server)
			c.play(tt.script)
			c.in.Close()
			io.Copy(io.Discard, c.out)
			<-c.done
		})
	}
}

// Deleting a session ends its process, which sees no trace of the proposal, and no other.
func TestDeleteEndsProcess(t *testing.T) {
	c := start(t, &host.Host{Proposal: dialect.SEP1364A1, Max: 2}, "")
	c.play(opened + makeA1(1, "$A") + makeA1(2, "$B") + call(3, "get", besideA, "") + said(3, "", besideA, "") +
		request(4, "session/delete", "", `"sessionId":"$A"`) + answer(4, "", "{}"))
	tape := <-c.tapes.ended
	if tape.session != c.names["$A"] || tape.code != 0 {
		t.Errorf("the process of session %q ended with status %d, want that of %q with 0", tape.session, tape.code, c.names["$A"])
	}
	if sent := tape.sent.String(); strings.Contains(sent, "sessionId") || !strings.Contains(sent, `"get"`) {
		t.Errorf("the process got %s", sent)
	}
	c.play(call(5, "get", besideB, "") + said(5, "", besideB, ""))
	c.end(0)
	for range 2 {
		<-c.tapes.ended
	}
	if n := len(c.tapes.all); n != 3 || c.tapes.all[0].session != "" && c.tapes.all[1].session != "" {
		t.Errorf("%d processes were recorded", n)
	}
}

// A session that is not used ends, and one that works does not.
func TestIdle(t *testing.T) {
	c := start(t, &host.Host{Proposal: dialect.DataLayer, Max: 2, Idle: 700 * time.Millisecond}, "")
	ends := func(name string) {
		t.Helper()
		if tape := <-c.tapes.ended; tape.session != c.names[name] {
			t.Errorf("session %q ended, want %s of %q", tape.session, name, c.names)
		}
	}
	c.play(opened + makeDLS(1, "$B") + call(2, "hang", "", metaB) + makeDLS(3, "$A"))
	ends("$A")
	c.play(call(4, "get", "", metaA) + `< {"jsonrpc":"2.0","id":4,"error":"*"}
		` + makeDLS(5, "$C"))
	ends("$C")
	c.play(`> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if line, err := c.out.ReadString('\n'); err != nil || !strings.Contains(line, `"id":2`) { // the answer, or an error if that comes late
		t.Errorf("got %q, %v", line, err)
	}
	ends("$B")
	c.end(0)
}

// The host ends with its first process, and with the last session of the second
// alternative.
func TestEnd(t *testing.T) {
	for _, tt := range []struct {
		proposal dialect.Proposal
		script   string
	}{
		{dialect.DataLayer, opened + makeDLS(1, "$A") + call(2, "die", "", "")},
		{dialect.SEP1364A2, makeA2(0, "$A") + call(2, "die", besideA, "")},
		{dialect.SEP1364A2, makeA2(0, "$A") + makeA2(1, "$B") + request(2, "terminate", besideA, "") + answer(2, "", "{}") + call(3, "die", besideB, "")},
	} {
		c := start(t, &host.Host{Proposal: tt.proposal, Max: 2, Idle: time.Hour}, "")
		c.play(tt.script)
		c.over(3)
	}
}

func TestNoServer(t *testing.T) {
	complaints := make(chan error, 1)
	c := start(t, &host.Host{Command: []string{"no-such-server"}, Proposal: dialect.DataLayer, Max: 1, Complain: func(err error) { complaints <- err }}, "")
	c.over(127)
	var unstarted *proxy.StartError
	if err := <-complaints; !errors.As(err, &unstarted) {
		t.Errorf("got the complaint %v", err)
	}
}

// FuzzHost: whatever the client sends, the host ends when the client does, with the status
// of its server, and says nothing that is no message.
func FuzzHost(f *testing.F) {
	for _, tt := range scripts {
		var lines strings.Builder
		for line := range strings.Lines(tt.script) {
			if lines.Len() > 500 { // each message takes time: it goes to a server and back
				break
			}
			if line, ok := strings.CutPrefix(strings.TrimSpace(line), "> "); ok && !strings.Contains(line, `"die"`) && !strings.Contains(line, `"long"`) {
				lines.WriteString(line + "\n")
			}
		}
		f.Add([]byte(lines.String()), uint8(tt.proposal))
	}
	f.Fuzz(func(t *testing.T, sent []byte, proposal uint8) {
		if len(sent) > 2<<10 {
			return
		}
		if bytes.Contains(sent, []byte("die")) {
			t.Skip("the server would end before the client")
		}
		h := &host.Host{Command: []string{os.Args[0], asServer}, Proposal: dialect.Proposal(1 + proposal%3), Max: 2, Idle: time.Hour}
		var out bytes.Buffer
		if err := (&proxy.Proxy{Peer: h.Peer(), In: bytes.NewReader(sent), Out: &out, Err: io.Discard}).Run(t.Context()); err != nil {
			t.Fatalf("%q: %v", sent, err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if e := wire.Scan(line); e.Kind == wire.Invalid {
				t.Errorf("%q: got %q", sent, line)
			}
		}
	})
}
