package front_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/front"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// A server is one that a test plays.
type server struct {
	t   *testing.T
	url string
	end func() []front.Result
}

func play(t *testing.T, lines string) *server {
	t.Helper()
	return playTape(t, replaytest.Tape(t, lines))
}

func playTape(t *testing.T, tape *record.Tape) *server {
	t.Helper()
	f, err := front.New(replay.Agent{Tapes: []*record.Tape{tape}})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.Address = &url.URL{Scheme: "http", Host: ln.Addr().String()}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- relay.Serve(ctx, ln, f) }()
	s := &server{t: t, url: f.Address.JoinPath(f.Path()).String()}
	s.end = func() []front.Result {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		return f.Close()
	}
	return s
}

// ask sends a request, with headers in pairs, and returns the response.
func (s *server) ask(method, body string, headers ...string) *http.Response {
	s.t.Helper()
	in, err := http.NewRequestWithContext(s.t.Context(), method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		in.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			in.Host = headers[i+1]
		}
	}
	res, err := http.DefaultClient.Do(in)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { res.Body.Close() })
	return res
}

// want asks, and compares the status and the type of the response, and its whole body.
func (s *server) want(status int, contentType, text string, method, body string, headers ...string) http.Header {
	s.t.Helper()
	res := s.ask(method, body, headers...)
	got, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Error(err)
	}
	if res.StatusCode != status || !strings.HasPrefix(res.Header.Get("Content-Type"), contentType) || string(got) != text {
		s.t.Errorf("%s %s: got %d %s\n%s\nwant %d %s\n%s", method, body, res.StatusCode, res.Header.Get("Content-Type"), got, status, contentType, text)
	}
	return res.Header
}

// check compares the number of misses of each client.
func (s *server) check(misses ...int) {
	s.t.Helper()
	results := s.end()
	if len(results) != len(misses) {
		s.t.Fatalf("%d clients came, want %d", len(results), len(misses))
	}
	for i, r := range results {
		if len(r.Report.Misses) != misses[i] || r.Report.Left > 0 {
			s.t.Errorf("client %d, session %q:\n%s", i, r.Session, r.Report.String())
		}
	}
}

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
	ready       = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	call        = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":1},"_meta":{"progressToken":"p"}}}`
	progress    = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`
	answer      = `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`
	changed     = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	list        = `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`
	asJSON      = "application/json"
	asEvents    = "text/event-stream"
)

// stdio is a tape of stdio.
var stdio = "c " + initialize + "\na " + initialized + "\nc " + ready + "\na " + changed + "\nc " + call + "\na " + progress + "\na " + answer + "\n"

// TestStdio: which answers are one message and which are events; that a frame about no
// request waits for the stream of a GET; that ids are the client's.
func TestStdio(t *testing.T) {
	s := play(t, stdio)
	h := s.want(200, asJSON, initialized, "POST", initialize)
	if got := h.Get("Mcp-Session-Id"); got != "replay" {
		t.Errorf("the session is %q", got)
	}
	id := []string{"Mcp-Session-Id", "replay"}
	s.want(202, "", "", "POST", ready, id...)
	seven := func(text string) string { return strings.Replace(text, `"id":2`, `"id":"seven"`, 1) }
	s.want(200, asEvents, "data: "+progress+"\n\ndata: "+seven(answer)+"\n\n", "POST", seven(call), id...)
	res := s.ask("GET", "", append(id, "Accept", asEvents)...)
	if line, err := bufio.NewReader(res.Body).ReadString('\n'); line != "data: "+changed+"\n" {
		t.Errorf("on its own stream the server says %q, %v", line, err)
	}
	s.want(204, "", "", "DELETE", "", id...)
	s.want(404, "text/plain", "there is no such session\n", "POST", call, id...)
	s.check(0)
}

// TestRefused: what gets no answer of the tape.
func TestRefused(t *testing.T) {
	s := play(t, stdio)
	s.want(403, "text/plain", fmt.Sprintf("Host \"evil.example\" is not this address: dial %s\n", strings.TrimSuffix(s.url, "/mcp")), "POST", initialize, "Host", "evil.example")
	s.want(403, "text/plain", "Origin \"https://evil.example\" is not allowed; --allow-origin allows it\n", "POST", initialize, "Origin", "https://evil.example")
	s.want(400, "text/plain", "the header Mcp-Session-Id is missing\n", "POST", call)
	s.want(400, "text/plain", "the header Mcp-Session-Id is missing\n", "GET", "")
	s.want(404, "text/plain", "there is no such session\n", "POST", call, "Mcp-Session-Id", "other")
	s.want(400, asJSON, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"acptap replay: the body is not JSON"}}`, "POST", "{", "Mcp-Session-Id", "other")
	s.want(405, "text/plain", "want GET, POST or DELETE\n", "PUT", "")
	s.url += "/other"
	s.want(404, "text/plain", "the tape is played at /mcp\n", "POST", initialize)
	if r := s.end(); len(r) != 1 || r[0].Report.Received != 0 || r[0].Report.Left == 0 {
		t.Errorf("%+v", r)
	}
}

// TestMiss: a miss is the error in a 200, for its client only.
func TestMiss(t *testing.T) {
	s := play(t, stdio)
	for i, n := range []string{"2", "1"} {
		id := s.want(200, asJSON, initialized, "POST", initialize).Get("Mcp-Session-Id")
		if want := []string{"replay", "replay~2"}[i]; id != want {
			t.Errorf("session %q, want %q", id, want)
		}
		s.want(202, "", "", "POST", ready, "Mcp-Session-Id", id)
		if n == "1" {
			s.want(200, asEvents, "data: "+progress+"\n\ndata: "+answer+"\n\n", "POST", call, "Mcp-Session-Id", id)
			continue
		}
		res := s.ask("POST", strings.Replace(call, `"n":1`, `"n":2`, 1), "Mcp-Session-Id", id)
		got, _ := io.ReadAll(res.Body)
		if res.StatusCode != 200 || !strings.Contains(string(got), "arguments.n is 2, not 1") {
			t.Errorf("%d %s", res.StatusCode, got)
		}
		s.ask("POST", call, "Mcp-Session-Id", id) // otherwise it would be reported as one that never came
	}
	s.check(1, 0)
}

// TestEvents: ids, retry and events without a message are as on the tape; a client that lost
// a stream gets the rest of it; a recorded status is the answer.
func TestEvents(t *testing.T) {
	head := func(stream int, method, accept string) string {
		return fmt.Sprintf(`! {"dir":"c2a","http":{"stream":%d,"method":%q,"target":"/server","headers":[{"name":"Accept","value":%q},{"name":"Mcp-Session-Id","value":"abc"}]}}`, stream, method, accept) + "\n"
	}
	response := func(stream, status int, contentType string) string {
		return fmt.Sprintf(`! {"dir":"a2c","http":{"stream":%d,"status":%d,"headers":[{"name":"Content-Type","value":%q},{"name":"Mcp-Session-Id","value":"abc"}]}}`, stream, status, contentType) + "\n"
	}
	message := func(stream int, dir, lead, text string) string {
		return fmt.Sprintf(`! {"dir":%q,"stream":%d,"lead":%q,"frame":%s}`, dir, stream, lead, text) + "\n"
	}
	s := play(t, `! {"acptap":1,"proto":"mcp","transport":"http"}`+"\n"+
		strings.Replace(head(1, "POST", asEvents), `,{"name":"Mcp-Session-Id","value":"abc"}`, "", 1)+message(1, "c2a", "", initialize)+
		response(1, 200, asJSON)+message(1, "a2c", "", initialized)+
		head(2, "POST", asEvents)+message(2, "c2a", "", ready)+response(2, 202, "")+
		head(3, "POST", asEvents)+message(3, "c2a", "", call)+response(3, 200, asEvents)+
		`! {"dir":"a2c","stream":3,"lead":"id: e1\nretry: 500\ndata:\n\n","sse":{"id":"e1","retry":"500"}}`+"\n"+
		message(3, "a2c", "event: message\nid: e2\ndata: ", progress)+
		message(3, "a2c", "\n\nevent: message\nid: e3\ndata: ", answer)+
		head(4, "POST", asEvents)+message(4, "c2a", "", list)+response(4, 500, "text/plain")+
		`! {"dir":"a2c","stream":4,"kind":"body","text":"out of order"}`+"\n")
	if !strings.HasSuffix(s.url, "/server") {
		t.Errorf("it is at %s", s.url)
	}
	if got := s.want(200, asJSON, initialized, "POST", initialize).Get("Mcp-Session-Id"); got != "abc" {
		t.Errorf("the session is %q", got)
	}
	id := []string{"Mcp-Session-Id", "abc"}
	s.want(202, "", "", "POST", ready, id...)
	last := "event: message\nid: e3\ndata: " + answer + "\n\n"
	s.want(200, asEvents, "id: e1\nretry: 500\ndata: \n\nevent: message\nid: e2\ndata: "+progress+"\n\n"+last, "POST", call, id...)
	s.want(200, asEvents, last, "GET", "", append(id, "Accept", asEvents, "Last-Event-ID", "e2")...)
	s.want(400, "text/plain", "there is no event with that id among the last ones\n", "GET", "", append(id, "Accept", asEvents, "Last-Event-ID", "e9")...)
	s.want(405, "text/plain", "the tape has no stream of the server's own\n", "GET", "", append(id, "Accept", asEvents)...)
	s.want(500, "text/plain", "out of order", "POST", list, id...)
	s.check(0)
}

// TestOldTransport: a tape of HTTP+SSE, whose server has a path for messages that no client
// of the newer transport looks for, is played under the usual one.
func TestOldTransport(t *testing.T) {
	s := play(t, `! {"acptap":1,"proto":"mcp","transport":"sse"}`+"\n"+
		`! {"dir":"c2a","http":{"stream":1,"method":"GET","target":"/sse","headers":[{"name":"Accept","value":"text/event-stream"}]}}`+"\n"+
		`! {"dir":"a2c","http":{"stream":1,"status":200,"headers":[{"name":"Content-Type","value":"text/event-stream"}]}}`+"\n"+
		`! {"dir":"a2c","stream":1,"lead":"event: endpoint\ndata: /message?sessionId=a\n\n","sse":{"event":"endpoint","data":"/message?sessionId=a"}}`+"\n"+
		`! {"dir":"c2a","http":{"stream":2,"method":"POST","target":"/message?sessionId=a"}}`+"\n"+
		fmt.Sprintf(`! {"dir":"c2a","stream":2,"frame":%s}`, initialize)+"\n"+
		`! {"dir":"a2c","http":{"stream":2,"status":202}}`+"\n"+
		fmt.Sprintf(`! {"dir":"a2c","stream":1,"lead":"event: message\ndata: ","frame":%s}`, initialized)+"\n")
	if !strings.HasSuffix(s.url, "/mcp") {
		t.Errorf("it is at %s", s.url)
	}
	s.want(200, asJSON, initialized, "POST", initialize)
	s.check(0)
}

// TestTwoClients: on a tape of two clients that used the same ids at once, each call has
// the answer on its own stream.
func TestTwoClients(t *testing.T) {
	line := func(dir string, stream int, text string) string {
		return fmt.Sprintf(`! {"dir":%q,"stream":%d,"frame":%s}`, dir, stream, text) + "\n"
	}
	fast := strings.Replace(call, `"t"`, `"fast"`, 1)
	said := func(id, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
	}
	s := play(t, `! {"acptap":1,"proto":"mcp","transport":"http"}`+"\n"+
		line("c2a", 1, initialize)+line("a2c", 1, initialized)+line("c2a", 2, ready)+
		line("c2a", 3, call)+line("c2a", 4, fast)+
		line("a2c", 4, progress)+line("a2c", 4, said("2", "fast"))+
		line("a2c", 3, progress)+line("a2c", 3, progress)+line("a2c", 3, said("2", "slow")))
	s.want(200, asJSON, initialized, "POST", initialize)
	id := []string{"Mcp-Session-Id", "replay"}
	s.want(202, "", "", "POST", ready, id...)
	s.want(200, asEvents, strings.Repeat("data: "+progress+"\n\n", 2)+"data: "+said("2", "slow")+"\n\n", "POST", call, id...)
	third := func(text string) string { return strings.NewReplacer(`"id":2`, `"id":3`, `"p"`, `"q"`).Replace(text) }
	s.want(200, asEvents, "data: "+third(progress)+"\n\ndata: "+said("3", "fast")+"\n\n", "POST", third(fast), id...)
	s.check(0)
}

// TestLong: messages longer than one read pass whole.
func TestLong(t *testing.T) {
	text := strings.Repeat("long ", 1<<19)
	long := strings.Replace(call, `"n":1`, `"n":"`+text+`"`, 1)
	said := `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`
	s := play(t, "c "+initialize+"\na "+initialized+"\nc "+ready+"\nc "+long+"\na "+said+"\n")
	s.want(200, asJSON, initialized, "POST", initialize)
	s.want(202, "", "", "POST", ready, "Mcp-Session-Id", "replay")
	s.want(200, asJSON, said, "POST", strings.ReplaceAll(long, `,"params"`, ",\r\n \"params\""), "Mcp-Session-Id", "replay")
	s.check(0)
}

// TestManyClients: ended sessions are still reported at the end, in the order in which the
// clients connected, and their ids are not reused.
func TestManyClients(t *testing.T) {
	s := play(t, stdio)
	var want []string
	for i := range 5 {
		id := s.want(200, asJSON, initialized, "POST", initialize).Get("Mcp-Session-Id")
		want = append(want, id)
		in := []string{"Mcp-Session-Id", id}
		s.want(202, "", "", "POST", ready, in...)
		s.want(200, asEvents, "data: "+progress+"\n\ndata: "+answer+"\n\n", "POST", call, in...)
		if i != 1 { // which stays until the end
			s.want(204, "", "", "DELETE", "", in...)
			s.want(404, "text/plain", "there is no such session\n", "POST", call, in...)
		}
	}
	var got []string
	for _, r := range s.end() {
		got = append(got, r.Session)
		if len(r.Report.Misses) > 0 || r.Report.Left > 0 || r.Err != nil {
			t.Errorf("session %q: %v\n%s", r.Session, r.Err, r.Report.String())
		}
	}
	if !slices.Equal(got, want) || len(slices.Compact(slices.Sorted(slices.Values(want)))) != 5 {
		t.Errorf("told of %q, want %q", got, want)
	}
}
