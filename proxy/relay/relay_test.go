package relay_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/proxy/wire"
)

// TestRecordedFirst: everything that the server and the client receive is already on the
// tape, chunk by chunk.
func TestRecordedFirst(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`
	var f *fixture
	next := make(chan string)
	s := server(t, func(w http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		if string(body) != request {
			t.Errorf("the server got %s", body)
		}
		if there := f.tape(0).String(); !strings.Contains(there, "POST /mcp?x=%20y") || !strings.Contains(there, `tools/call`) {
			t.Errorf("the server has the request before the tape:\n%s", there)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for event := range next {
			io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	})
	f = start(t, s.URL+"/mcp", nil)
	res, err := http.Post(f.url+"?x=%20y", "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	all := ""
	for _, event := range []string{"id: 1\r\n", "data: {\"a\":1}\r\n\r\n", ": alive\n\n", "data: 2\n\n"} {
		next <- event
		got := make([]byte, len(event))
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != event {
			t.Fatalf("the client got %q, %v; want %q", got, err, event)
		}
		all += event
		tape := f.tape(0)
		tape.mu.Lock()
		if there := tape.streams[0].received[wire.AgentToClient].String(); there != all {
			t.Errorf("the client has %q, the tape %q", all, there)
		}
		tape.mu.Unlock()
	}
	close(next)
	if rest, err := io.ReadAll(res.Body); len(rest) > 0 || err != nil {
		t.Errorf("behind the events: %q, %v", rest, err)
	}
	one := f.tape(0).stream(1)
	for dir, e := range one.ends {
		if e.Error != "" || e.By != []wire.Peer{wire.ByClient, wire.ByServer}[dir] {
			t.Errorf("%s ended by %s: %s", wire.Direction(dir), e.By, e.Error)
		}
	}
	if one.heads[0].Status != 200 || headers(one.heads[0].Headers)["Content-Type"] != "text/event-stream" {
		t.Errorf("head %+v", one.heads[0])
	}
}

// TestLongRequest: a body that is too long to be read whole streams, and all of it is
// recorded.
func TestLongRequest(t *testing.T) {
	for _, size := range []int{0, 1, 1 << 20, 1<<20 + 1, 3 << 20} {
		body := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		s := server(t, func(w http.ResponseWriter, in *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			if _, err := io.Copy(w, in.Body); err != nil {
				t.Errorf("%d bytes: %v", size, err)
			}
		})
		f := start(t, s.URL, nil)
		for _, chunked := range []bool{false, true} {
			var r io.Reader = bytes.NewReader(body)
			if chunked {
				r = io.MultiReader(r)
			}
			res, err := http.Post(f.url+"/", "text/plain", r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("%d bytes: %d came back, %v", size, len(got), err)
			}
		}
		for n := 1; n <= 2; n++ {
			one := f.tape(0).stream(n)
			for dir := range one.sent {
				if !bytes.Equal(one.sent[dir].Bytes(), body) {
					t.Errorf("%d bytes: %d on the tape, %s", size, one.sent[dir].Len(), wire.Direction(dir))
				}
			}
		}
	}
}

// TestHeads: what goes to the server, and what of it is on the tape.
func TestHeads(t *testing.T) {
	var got *http.Request
	s := server(t, func(w http.ResponseWriter, in *http.Request) { got = in })
	u, _ := url.Parse(s.URL)
	f := start(t, "http://ada:secret@"+u.Host+"/mcp?key=secret", nil)
	in, _ := http.NewRequest(http.MethodGet, f.url+"?a=1;b&c=%zz", nil)
	in.Header.Set("Accept-Encoding", "gzip")
	in.Header.Set("X-Forwarded-For", "192.0.2.1")
	in.Header.Set("Mcp-Session-Id", "s1")
	res, err := http.DefaultClient.Do(in)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	for name, want := range map[string]string{"Accept-Encoding": "identity", "X-Forwarded-For": "192.0.2.1", "Mcp-Session-Id": "s1", "Authorization": "Basic YWRhOnNlY3JldA=="} {
		if v := strings.Join(got.Header.Values(name), "|"); v != want {
			t.Errorf("%s: the server got %q, want %q", name, v, want)
		}
	}
	if got.Host != u.Host || got.URL.RawQuery != "key=secret&a=1;b&c=%zz" {
		t.Errorf("the server got %s %s", got.Host, got.URL)
	}
	tape := f.tape(0)
	request := tape.stream(1).request
	came, went := headers(request.Headers), headers(request.Rewritten.Headers)
	if came["Accept-Encoding"] != "gzip" || went["Accept-Encoding"] != "identity" || came["Host"] != f.Address.Host || went["Host"] != u.Host {
		t.Errorf("on the tape: came %v, went %v", came, went)
	}
	if tape.facts != (relay.Facts{Transport: "http", Upstream: s.URL + "/mcp"}) || strings.Contains(tape.String(), "secret") {
		t.Errorf("the tape has %+v\n%s", tape.facts, tape)
	}
}

// TestRefused: the attacks of a page in a browser on a server on this machine.
func TestRefused(t *testing.T) {
	asked := 0
	s := server(t, func(w http.ResponseWriter, in *http.Request) {
		asked++
		w.Header().Set("Seen-Origin", in.Header.Get("Origin"))
	})
	f := start(t, s.URL+"/mcp", func(r *relay.Relay) { r.Origins = []string{"https://app.example"} })
	tests := []struct {
		host, origin string
		status       int
	}{
		{"", "", 200},
		{"localhost:1", "", 200},
		{"[::1]:7000", "", 200},
		{"evil.example", "", 403},
		{"127.0.0.1.evil.example", "", 403},
		{"192.0.2.1", "", 403},
		{"", "http://localhost:3000", 200},
		{"", "http://127.0.0.1", 200},
		{"", "https://app.example", 200},
		{"", "https://evil.example", 403},
		{"", "http://localhost.evil.example", 403},
		{"", "null", 403},
	}
	want := 0
	for _, tt := range tests {
		in, _ := http.NewRequest(http.MethodPost, f.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
		if in.Host = tt.host; tt.host == "" {
			in.Host = f.Address.Host
		}
		if tt.origin != "" {
			in.Header.Set("Origin", tt.origin)
		}
		res, err := http.DefaultClient.Do(in)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.status {
			t.Errorf("Host %q, Origin %q: %d, want %d", tt.host, tt.origin, res.StatusCode, tt.status)
		}
		if tt.status == 200 {
			if want++; res.Header.Get("Seen-Origin") != tt.origin {
				t.Errorf("Origin %q: the server got %q", tt.origin, res.Header.Get("Seen-Origin"))
			}
		}
	}
	if asked != want {
		t.Errorf("the server was asked %d times, want %d", asked, want)
	}
	found := false
	for _, tape := range f.all() {
		found = found || strings.Contains(tape.String(), "403 injected")
	}
	if !found {
		t.Error("no tape tells of a refusal")
	}
}

// TestRefusedWithoutOrigin: requests for embedded or linked URLs have no Origin.
func TestRefusedWithoutOrigin(t *testing.T) {
	var asked atomic.Int64
	s := server(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	u, _ := url.Parse(s.URL)
	f := start(t, "http://ada:secret@"+u.Host+"/mcp", func(r *relay.Relay) { r.Origins = []string{"https://app.example"} })
	own := f.Address.String() + "/page"
	tests := []struct {
		name, site, referer, origin string
		status                      int
	}{
		{"program", "", "", "", 200},
		{"typed into a browser", "none", "", "", 200},
		{"page of the server", "same-origin", own, "", 200},
		{"page of the server, old browser", "", own, "", 200},
		{"page elsewhere", "cross-site", "https://evil.example/", "", 403},
		{"page elsewhere that hides itself", "cross-site", "", "", 403},
		{"page on another port", "same-site", "http://127.0.0.1:1/", "", 403},
		{"page on another port that hides itself", "same-site", "", "", 403},
		{"allowed page that embeds", "cross-site", "https://app.example/", "", 403},
		{"site not known yet", "near", "", "", 403},
		{"page elsewhere, old browser", "", "https://evil.example/", "", 403},
		{"page on another port, old browser", "", "http://127.0.0.1:1/", "", 403},
		{"referer that is no URL", "", "http://[", "", 403},
		{"referer without a host", "", "about:client", "", 403},
		{"allowed page that fetches", "cross-site", "https://app.example/", "https://app.example", 200},
		{"local page that fetches", "same-site", "http://localhost:3000/", "http://localhost:3000", 200},
	}
	want := int64(0)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := http.NewRequest(http.MethodGet, f.url+"?delete=all", nil)
			for name, v := range map[string]string{"Sec-Fetch-Site": tt.site, "Referer": tt.referer, "Origin": tt.origin} {
				if v != "" {
					in.Header.Set(name, v)
				}
			}
			res, err := http.DefaultClient.Do(in)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if tt.status == http.StatusOK {
				want++
			}
			if res.StatusCode != tt.status || asked.Load() != want {
				t.Errorf("got %d %swith %d requests at the server, want %d with %d", res.StatusCode, text, asked.Load(), tt.status, want)
			}
		})
	}
}

// TestUnreachable: without a server acptap tells the client why.
func TestUnreachable(t *testing.T) {
	s := server(t, nil)
	s.Close()
	f := start(t, s.URL+"/mcp", nil)
	res, err := http.Post(f.url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusBadGateway || !strings.HasPrefix(string(text), "acptap: no response of "+s.URL+"/mcp: dial tcp ") {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	one := f.tape(0).stream(1)
	if one.heads[0].Origin != wire.Injected || one.sent[1].Len() != 0 || one.received[1].String() != string(text) || one.ends[1].By != wire.ByAcptap {
		t.Errorf("on the tape:\n%s", f.tape(0))
	}
}

// TestForms: the credentials with which an OAuth client requests a token, and the token, are
// not recorded.
func TestForms(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, in *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"token for":"`+in.FormValue("code")+`"}`)
	})
	f := start(t, s.URL+"/mcp", nil)
	res, err := http.PostForm(f.Address.String()+"/token", url.Values{"code": {"very-secret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); string(text) != `{"token for":"very-secret"}` {
		t.Errorf("the client got %s", text)
	}
	tape := f.tape(0)
	tape.stream(1)
	if text := tape.String(); strings.Contains(text, "very-secret") || !strings.Contains(text, "POST /token") {
		t.Errorf("on the tape:\n%s", text)
	}
}

// TestInformational: responses before the response are passed on and recorded.
func TestInformational(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, in *http.Request) {
		w.Header().Set("Link", "</style>")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusNoContent)
	})
	f := start(t, s.URL+"/mcp", nil)
	res, err := http.Get(f.url)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	heads := f.tape(0).stream(1).heads
	if len(heads) != 2 || heads[0].Status != 103 || heads[1].Status != 204 {
		t.Errorf("heads %+v", heads)
	}
}

// TestUnrecorded: if nothing can be recorded, or the recorder panics, the traffic continues,
// and the failure is reported.
func TestUnrecorded(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, in *http.Request) { io.Copy(w, in.Body) })
	begins := map[string]func(relay.Facts) (relay.Journal, error){
		"no tape": func(relay.Facts) (relay.Journal, error) { return nil, errors.New("no room") },
		"panic":   func(f relay.Facts) (relay.Journal, error) { return &breaking{newTape(f)}, nil },
	}
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			told := make(chan error, 100)
			f := start(t, s.URL, func(r *relay.Relay) { r.Begin, r.Complain = begin, func(err error) { told <- err } })
			for range 3 {
				res, err := http.Post(f.url+"/", "text/plain", strings.NewReader("body"))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(res.Body); string(got) != "body" || err != nil {
					t.Errorf("%q, %v", got, err)
				}
				res.Body.Close()
			}
			f.stop()
			if len(told) != 1 {
				t.Errorf("told %d times", len(told))
			}
		})
	}
}

// breaking is a Journal that panics when it gets bytes.
type breaking struct{ *tape }

func (b *breaking) AppendStream(uint64, wire.Direction, wire.Origin, []byte) error { panic("broken") }

// TestWebSocket: what follows an upgrade is recorded in both directions, on a tape of
// its own, and extensions that would hide it are not offered.
func TestWebSocket(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, in *http.Request) {
		if got := in.Header.Get("Sec-Websocket-Extensions"); got != "" {
			t.Errorf("extensions %q", got)
		}
		conn, b, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello ")
		line, _ := b.ReadString('\n')
		io.WriteString(conn, line)
	})
	for range 2 {
		f := start(t, s.URL+"/ws", nil)
		conn := dial(t, f.Address.Host)
		io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n")
		r := bufio.NewReader(conn)
		res, err := http.ReadResponse(r, nil)
		if err != nil || res.StatusCode != 101 {
			t.Fatalf("%v, %v", res, err)
		}
		io.WriteString(conn, "world\n")
		if got, err := io.ReadAll(r); string(got) != "hello world\n" || err != nil {
			t.Errorf("the client got %q, %v", got, err)
		}
		conn.Close()
		tape := f.tape(0)
		tape.await(func() bool { return tape.closed != "" })
		one := tape.stream(1)
		if one.sent[0].String() != "world\n" || one.sent[1].String() != "hello world\n" || tape.facts.Transport != "ws" || one.heads[0].Status != 101 {
			t.Errorf("on the tape:\n%s", tape)
		}
		if len(one.request.Rewritten.Removed) != 1 {
			t.Errorf("removed %v", one.request.Rewritten.Removed)
		}
	}
}

// TestUnencryptedHTTP2: both sides may speak HTTP/2 without TLS.
func TestUnencryptedHTTP2(t *testing.T) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	s := unstarted(func(w http.ResponseWriter, in *http.Request) { io.WriteString(w, in.Proto) })
	s.Config.Protocols = protocols
	s.Start()
	t.Cleanup(s.Close)
	f := start(t, strings.Replace(s.URL, "http:", "h2c:", 1)+"/acp", nil)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	defer client.CloseIdleConnections()
	res, err := client.Get(f.url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); string(text) != "HTTP/2.0" || res.Proto != "HTTP/2.0" {
		t.Errorf("%s through %s", text, res.Proto)
	}
}
