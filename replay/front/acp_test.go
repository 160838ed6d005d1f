package front_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// TestACP: a client that sends the recorded messages gets the recorded answers, byte for
// byte, over HTTP and over a WebSocket, whatever the tape's transport was.
func TestACP(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"*.jsonl", "*/*.jsonl"} {
		found, err := filepath.Glob("../../testdata/tapes/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	played := 0
	for _, path := range paths {
		tape, err := record.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := tape.Info(); err != nil || info.Connection.Protocol != dialect.ACP {
			continue
		}
		played++
		for _, scheme := range []string{"http", "ws"} {
			t.Run(filepath.Base(path)+" over "+scheme, func(t *testing.T) {
				if scheme == "http" && strings.Contains(path, "proxy-chain") {
					t.Skip("a request of the agent precedes the answer to initialize, and so the connection's stream")
				}
				s := playTape(t, tape)
				recite(t, tape, scheme+strings.TrimPrefix(s.url, "http"))
				s.check(0)
			})
		}
	}
	if played < 10 {
		t.Errorf("there were only %d tapes", played)
	}
}

// recite sends an agent the messages of a tape's client, each when everything that preceded
// it has arrived.
func recite(t *testing.T, tape *record.Tape, url string) {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		replaytest.Remote(t, url, stdin, stdout)
		stdout.Close()
	}()
	came := map[string]int{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if !f.Kind.IsMessage() || !f.AtClient() {
			continue
		}
		for _, message := range messages(f, strings.HasPrefix(url, "http")) {
			if f.Dir == wire.ClientToAgent {
				fmt.Fprintln(in, message)
				continue
			}
			for came[message] == 0 && lines.Scan() {
				came[lines.Text()]++
			}
			if came[message]--; came[message] < 0 {
				t.Fatalf("frame %d did not come: %s\nin its place: %v", f.Seq, message, came)
			}
		}
	}
	in.Close()
	for lines.Scan() {
		t.Errorf("the tape does not have %s", lines.Text())
	}
	<-over
	for line, n := range came {
		if n > 0 {
			t.Errorf("the tape does not have %s", line)
		}
	}
}

// messages returns a frame, or the entries of one that is a batch, which HTTP does not have.
func messages(f dialect.Frame, split bool) (all []string) {
	if f.Kind != wire.Batch || !split {
		return []string{string(f.Raw)}
	}
	wire.Entries(f.Raw, func(_ int, entry []byte) bool {
		all = append(all, string(entry))
		return true
	})
	return all
}

const (
	begin   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	began   = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`
	setup   = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`
	session = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`
	prompt  = `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}`
	update  = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}}}`
	done    = `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`
)

// head returns the heads of an exchange as lines of a tape. The request has headers in
// pairs, and the response has the id of the connection if its status is 200.
func head(stream int, method string, status int, contentType string, headers ...string) (request, response string) {
	for i := 0; i < len(headers); i += 2 {
		request += fmt.Sprintf(`{"name":%q,"value":%q},`, headers[i], headers[i+1])
	}
	id := ""
	if status == 200 || status == 101 {
		id = `,{"name":"Acp-Connection-Id","value":"abc"}`
	}
	return fmt.Sprintf(`! {"dir":"c2a","http":{"stream":%d,"method":%q,"target":"/agent","headers":[%s]}}`+"\n", stream, method, strings.TrimSuffix(request, ",")),
		fmt.Sprintf(`! {"dir":"a2c","http":{"stream":%d,"status":%d,"headers":[{"name":"Content-Type","value":%q}%s]}}`+"\n", stream, status, contentType, id)
}

func on(stream int, dir, text string) string {
	return fmt.Sprintf(`! {"dir":%q,"stream":%d,"frame":%s}`, dir, stream, text) + "\n"
}

// TestACPStatus: the errors for a client that does not follow the RFD, and which messages go
// to which stream.
func TestACPStatus(t *testing.T) {
	s := play(t, "c "+begin+"\na "+began+"\nc "+setup+"\na "+session+"\nc "+prompt+"\na "+update+"\na "+done+"\n")
	text := []string{"Content-Type", asJSON}
	s.want(415, "text/plain", "the message is not application/json\n", "POST", begin)
	s.want(501, "text/plain", "batches are not taken over HTTP\n", "POST", "["+begin+"]", text...)
	s.want(400, "text/plain", "the header Acp-Connection-Id is missing\n", "POST", setup, text...)
	s.want(400, "text/plain", "the header Acp-Connection-Id is missing\n", "GET", "", "Accept", asEvents)
	s.want(400, "text/plain", "the header Acp-Connection-Id is missing\n", "DELETE", "")
	s.want(404, "text/plain", "there is no such connection\n", "POST", setup, append(text, "Acp-Connection-Id", "other")...)
	id := s.want(200, asJSON, began, "POST", begin, text...).Get("Acp-Connection-Id")
	if id != "replay" {
		t.Errorf("the connection is %q", id)
	}
	of := append(text, "Acp-Connection-Id", id)
	s.want(406, "text/plain", "what comes is text/event-stream\n", "GET", "", "Acp-Connection-Id", id)
	s.want(400, "text/plain", "the connection has been initialized\n", "POST", begin, of...)
	s.want(400, asJSON, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"acptap replay: the body is not JSON"}}`, "POST", "{", of...)
	s.want(202, "", "", "POST", setup, of...)
	first := func(res *http.Response, n int) (text string) {
		lines := bufio.NewReader(res.Body)
		for range n {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			text += line
		}
		return text
	}
	stream := append(of, "Accept", asEvents)
	if got, want := first(s.ask("GET", "", stream...), 1), "data: "+session+"\n"; got != want {
		t.Errorf("on the stream of the connection:\n%s\nwant\n%s", got, want)
	}
	s.want(400, "text/plain", "the message is of another session than the header Acp-Session-Id\n", "POST", prompt, append(of, "Acp-Session-Id", "r")...)
	s.want(202, "", "", "POST", prompt, append(of, "Acp-Session-Id", "s")...)
	if got, want := first(s.ask("GET", "", append(stream, "Acp-Session-Id", "s")...), 3), "data: "+update+"\n\ndata: "+done+"\n"; got != want {
		t.Errorf("on the stream of the session:\n%s\nwant\n%s", got, want)
	}
	s.want(202, "", "", "DELETE", "", of...)
	s.want(404, "text/plain", "there is no such connection\n", "DELETE", "", of...)
	s.check(0)
}

// TestACPRefusals: a status with which the server refused a request is the answer again; a
// client whose initialize was refused may try again, as on the tape. Over a WebSocket there
// is no status, so the answer is an error.
func TestACPRefusals(t *testing.T) {
	var lines strings.Builder
	exchange := func(stream int, method string, status int, contentType, said, answer string, headers ...string) {
		request, response := head(stream, method, status, contentType, headers...)
		lines.WriteString(request)
		if said != "" {
			lines.WriteString(on(stream, "c2a", said))
		}
		lines.WriteString(response + answer)
	}
	body := func(stream int, text string) string {
		return fmt.Sprintf(`! {"dir":"a2c","stream":%d,"kind":"body","text":%q}`, stream, text) + "\n"
	}
	exchange(1, "POST", 401, "text/plain", begin, body(1, "who are you?"))
	exchange(2, "POST", 200, asJSON, begin, on(2, "a2c", began))
	exchange(3, "GET", 200, asEvents, "", "", "Accept", asEvents, "Acp-Connection-Id", "abc")
	exchange(4, "POST", 202, "", setup, on(3, "a2c", session), "Acp-Connection-Id", "abc")
	exchange(5, "POST", 503, "text/plain", prompt, body(5, "not now"), "Acp-Connection-Id", "abc", "Acp-Session-Id", "s")
	tape := `! {"acptap":1,"proto":"acp","transport":"http"}` + "\n" + lines.String()

	s := play(t, tape)
	if !strings.HasSuffix(s.url, "/agent") {
		t.Errorf("it is at %s", s.url)
	}
	of := []string{"Content-Type", asJSON, "Acp-Connection-Id", "abc"}
	s.want(401, "text/plain", "who are you?", "POST", begin, of[:2]...)
	if got := s.want(200, asJSON, began, "POST", begin, of[:2]...).Get("Acp-Connection-Id"); got != "abc" {
		t.Errorf("the connection is %q", got)
	}
	s.want(202, "", "", "POST", setup, of...)
	s.want(503, "text/plain", "not now", "POST", prompt, of...)
	s.check(0)

	s = play(t, tape)
	conn := s.dial()
	for _, tt := range []struct{ say, want string }{
		{begin, `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"acptap replay: the tape has status 401 in place of an answer"}}`},
		{begin, began}, {setup, session},
		{prompt, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"acptap replay: the tape has status 503 in place of an answer"}}`},
	} {
		if got := s.talk(conn, tt.say); got != tt.want {
			t.Errorf("of %s over a WebSocket: got\n%s\nwant\n%s", tt.say, got, tt.want)
		}
	}
	conn.Close(websocket.StatusNormalClosure, "")
	s.check(0)
}

// TestSocketEnd: the socket is closed as on the tape when the agent has ended there; a client
// that leaves the tape gets the error, and one that closes the socket ends its replay only.
func TestSocketEnd(t *testing.T) {
	request, response := head(1, "GET", 101, "", "Upgrade", "websocket", "Connection", "Upgrade")
	s := play(t, `! {"acptap":1,"proto":"acp","transport":"ws"}`+"\n"+request+response+on(1, "c2a", begin)+on(1, "a2c", began)+
		`! {"dir":"a2c","stream":1,"close":{"code":4001,"reason":"out of tokens"}}`+"\n"+
		`! {"dir":"a2c","exit":{"code":0}}`+"\n")
	left := s.dial()
	if got := s.talk(left, setup); !strings.Contains(got, `"code":-32603`) {
		t.Errorf("of what is not on the tape: %s", got)
	}
	left.Close(websocket.StatusNormalClosure, "")
	conn := s.dial()
	if got := s.talk(conn, begin); got != began {
		t.Errorf("got %s", got)
	}
	_, _, err := conn.Read(t.Context())
	var end websocket.CloseError
	if !errors.As(err, &end) || end.Code != 4001 || end.Reason != "out of tokens" {
		t.Errorf("the socket was closed so: %v", err)
	}
	if r := s.end(); len(r) != 2 || !errors.Is(r[0].Err, replay.ErrDiverged) || r[0].Session != "abc" || r[1].Err != nil || r[1].Session != "abc~2" {
		t.Errorf("%+v", r)
	}
}

func (s *server) dial() *websocket.Conn {
	s.t.Helper()
	conn, _, err := websocket.Dial(s.t.Context(), "ws"+strings.TrimPrefix(s.url, "http"), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// talk says something on a socket, and returns the next message.
func (s *server) talk(conn *websocket.Conn, text string) string {
	s.t.Helper()
	if err := conn.Write(s.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
	_, p, err := conn.Read(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return string(p)
}
