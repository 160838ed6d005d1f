package host_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// asServer is the first argument of this program where it is the server.
const asServer = "as-server"

// TestMain is also the server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asServer {
		serve(strings.Join(os.Args[2:], " "))
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each process of the server ends a second late
	os.Exit(m.Run())
}

// serve is an MCP server on stdio that keeps one value for the life of its process. It
// knows no sessions, unless kind says "capability" or "id". Its tools are:
//
//	set {"value":TEXT}  keeps a value
//	get {}              answers with it
//	params {}           answers with the params, as they came
//	hello {}            answers with the params of initialize, and whether initialized came
//	ask {}              asks for the roots with the id 7 and answers with the answer
//	askText {}          the same with the id "seven"
//
// tell {} reports progress under the token of the request, and logs
//
//	hang {}             never answers, and answers when that is cancelled
//	giveUp {}           asks for the roots, and cancels that
//	die {}              ends the process with status 3
func serve(kind string) {
	s := server{kind: kind}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 8<<20)
	for in.Scan() {
		s.take(in.Bytes())
	}
}

type server struct {
	kind, value, hello string
	initialized        bool
	asking             string // the id of the request that waits for the client
	hanging            string
}

func (s *server) take(line []byte) {
	var m struct {
		ID, Params, Result json.RawMessage
		Method             string
		Error              *struct{ Message string }
	}
	if json.Unmarshal(line, &m) != nil {
		fmt.Println(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}`)
		return
	}
	if m.ID == nil && m.Method != "" && !strings.HasPrefix(m.Method, "notifications/") {
		return // which is no request
	}
	switch m.Method {
	case "initialize":
		s.hello = string(m.Params)
		capabilities, id := "{}", ""
		switch s.kind {
		case "capability":
			capabilities = `{"sessions":{}}`
		case "id":
			id = `,"sessionId":"own"`
		case "refuses":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no"}}`+"\n", m.ID)
			return
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":%s,"serverInfo":{"name":"s","version":"1"}}%s}`+"\n", m.ID, capabilities, id)
	case "server/discover":
		s.answer(m.ID, `{"resultType":"complete","capabilities":{}}`)
	case "ping":
		s.answer(m.ID, "{}")
	case "notifications/initialized":
		s.initialized = true
	case "notifications/roots/list_changed":
		s.value += "+roots"
	case "notifications/progress":
		s.value += "+progress" + string(m.Params)
	case "notifications/cancelled":
		s.text(s.hanging, "given up")
	case "tools/call":
		s.call(string(m.ID), m.Params)
	case "":
		said := string(m.Result)
		if m.Error != nil {
			said = m.Error.Message
		}
		s.text(s.asking, string(m.ID)+" "+said)
	default:
		if m.ID != nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", m.ID)
		}
	}
}

func (s *server) call(id string, params json.RawMessage) {
	var p struct {
		Name      string
		Arguments struct{ Value string }
		Meta      struct {
			ProgressToken json.RawMessage
		} `json:"_meta"`
	}
	json.Unmarshal(params, &p)
	switch p.Name {
	case "set":
		s.value = p.Arguments.Value
		s.text(id, "ok")
	case "get":
		s.text(id, s.value)
	case "params":
		s.text(id, string(params))
	case "hello":
		s.text(id, fmt.Sprint(s.hello, " ", s.initialized))
	case "ask":
		s.asking = id
		fmt.Println(`{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"_meta":{"progressToken":1}}}`)
	case "askText":
		s.asking = id
		fmt.Println(`{"jsonrpc":"2.0","id":"seven","method":"roots/list"}`)
	case "tell":
		if p.Meta.ProgressToken == nil {
			break
		}
		fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`+"\n", p.Meta.ProgressToken)
		s.text(id, "told")
	case "hang":
		s.hanging = id
	case "giveUp":
		fmt.Println(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`)
		s.text(id, "ok")
	case "die":
		os.Exit(3)
	case "long":
		s.text(id, strings.Repeat("x", 2<<20))
	}
}

func (s *server) answer(id json.RawMessage, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

func (s *server) text(id, text string) {
	if id == "" {
		return // no one waits for it
	}
	b, _ := json.Marshal(text)
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", id, b)
}
