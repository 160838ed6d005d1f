package relay_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

func unstarted(h http.HandlerFunc) *httptest.Server { return httptest.NewUnstartedServer(h) }

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestServerDies: the client sees what it would see without a relay, and the tape has
// everything that arrived and says who broke off.
func TestServerDies(t *testing.T) {
	const sse = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	tests := []struct {
		name   string
		sends  string
		status int
		body   string
		why    string // on the tape
	}{
		{"before the head", "", 502, "", ""},
		{"in the head", "HTTP/1.1 200 OK\r\nContent-Ty", 502, "", ""},
		{"no head", "SSH-2.0-x\r\n", 502, "", ""},
		{"in an event", sse + "f\r\ndata: {\"a\":1}\n\n\r\n7\r\ndata: {\r\n", 200, "data: {\"a\":1}\n\ndata: {", "unexpected EOF"},
		{"in a chunk", sse + "f\r\ndata", 200, "data", "unexpected EOF"},
		{"in a broken chunk", sse + "xyz\r\n", 200, "", "invalid byte in chunk length"},
		{"in a JSON body", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"", 200, "{\"jsonrpc\"", "unexpected EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := server(t, func(w http.ResponseWriter, in *http.Request) {
				io.Copy(io.Discard, in.Body) // else the system resets the connection
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(conn, tt.sends)
				conn.Close()
			})
			f := start(t, s.URL+"/mcp", nil)
			res, err := http.Post(f.url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if res.StatusCode != tt.status || tt.status == 200 && err == nil {
				t.Errorf("%d, reading the body: %v", res.StatusCode, err)
			}
			one := f.tape(0).stream(1)
			if tt.status == 502 {
				if one.heads[0].Origin != wire.Injected || one.ends[1].By != wire.ByAcptap {
					t.Errorf("on the tape:\n%s", f.tape(0))
				}
				return
			}
			if !strings.HasPrefix(tt.body, string(body)) || one.sent[1].String() != tt.body {
				t.Errorf("the client got %q, the tape %q, want %q", body, one.sent[1].String(), tt.body)
			}
			if e := one.ends[1]; e.By != wire.ByServer || e.Error != tt.why {
				t.Errorf("ended by %s: %q, want %q", e.By, e.Error, tt.why)
			}
		})
	}
}

// TestClientLeaves: the server sees that the client leaves, at once, wherever that is.
func TestClientLeaves(t *testing.T) {
	const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`
	tests := []struct {
		name   string
		sends  string
		after  string // what the client waits for before it leaves
		sent   string // by the client, on the tape
		asked  bool   // whether the server is asked at all
		status int
	}{
		{"in the head", "POST /mcp HT", "", "", false, 0},
		{"in the body", head + "Content-Length: 100\r\n\r\n{\"json", "", `{"json`, false, 0},
		{"in a chunk", head + "Transfer-Encoding: chunked\r\n\r\n50\r\n{\"json", "", `{"json`, false, 0},
		{"before the response", head + "Content-Length: 46\r\n\r\n" + message, "asked", message, true, 0},
		{"in an event", head + "Content-Length: 46\r\nAccept: text/event-stream\r\n\r\n" + message, "event", message, true, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked, gone := make(chan bool, 1), make(chan bool, 1)
			s := server(t, func(w http.ResponseWriter, in *http.Request) {
				asked <- true
				if tt.status != 0 {
					w.Header().Set("Content-Type", "text/event-stream")
					io.WriteString(w, "data: {\"par")
					w.(http.Flusher).Flush()
				}
				io.Copy(io.Discard, in.Body)
				<-in.Context().Done()
				gone <- true
			})
			f := start(t, s.URL+"/mcp", nil)
			conn := dial(t, f.Address.Host)
			io.WriteString(conn, tt.sends)
			switch tt.after {
			case "asked":
				<-asked
			case "event":
				r := bufio.NewReader(conn)
				for line := ""; !strings.Contains(line, "data:"); {
					var err error
					if line, err = r.ReadString('r'); err != nil {
						t.Fatal(err)
					}
				}
			}
			conn.Close()
			if tt.asked {
				<-gone
			}
			if tt.sent == "" {
				f.stop()
				if n := len(f.all()); n > 0 {
					t.Errorf("%d tapes of a request without a head", n)
				}
				return
			}
			one := f.tape(0).stream(1)
			if one.sent[0].String() != tt.sent {
				t.Errorf("the tape has %q, want %q", one.sent[0].String(), tt.sent)
			}
			if tt.asked && (one.ends[1].By != wire.ByClient || one.ends[1].Error == "") {
				t.Errorf("ended by %s: %q", one.ends[1].By, one.ends[1].Error)
			}
			if !tt.asked && (one.ends[0].By != wire.ByClient || one.ends[0].Error == "") {
				t.Errorf("the request ended by %s: %q", one.ends[0].By, one.ends[0].Error)
			}
		})
	}
}

// TestEndsWithStreamsOpen: if acptap is told to end, streams break off, and the tape says who
// did it.
func TestEndsWithStreamsOpen(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, in *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-in.Context().Done()
	})
	f := start(t, s.URL+"/mcp", nil)
	res, err := http.Get(f.url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	f.stop()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the client takes the stream for ended")
	}
	tape := f.tape(0)
	if e := tape.stream(1).ends[1]; e.By != wire.ByAcptap || tape.closed != "the test ended" {
		t.Errorf("ended by %s: %s; closed: %s", e.By, e.Error, tape.closed)
	}
}
