package relay_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/proxy/relay"
)

// TestConnections: which requests are on one tape. The server does what the request's query
// says: status, id and endpoint.
func TestConnections(t *testing.T) {
	const (
		discover   = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"NAME","version":"1"}}}}`
		modern     = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"NAME","version":"1"}}}}`
		initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"NAME","version":"1"}}}`
		list       = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	)
	named := func(message, name string) string { return strings.Replace(message, "NAME", name, 1) }
	type request struct {
		method string
		query  string
		header string // NAME: value
		body   string
		tape   int // on which it is, from 0
	}
	guessed := map[string]int{"no ids": 5, "modern": 1} // how many requests say that it is
	tests := []struct {
		name     string
		requests []request
		closed   []string // why the tapes have ended, in their order
	}{
		{"two sessions", []request{
			{"POST", "id=A", "", initialize, 0},
			{"POST", "id=B", "", initialize, 1},
			{"POST", "", "Mcp-Session-Id: A", list, 0},
			{"GET", "", "Mcp-Session-Id: B", "", 1},
			{"DELETE", "", "Mcp-Session-Id: A", "", 0},
			{"POST", "status=404", "Mcp-Session-Id: B", list, 1},
			{"POST", "id=C", "", initialize, 2},
		}, []string{"the client deleted the session", "the server does not know the session any more", "end"}},
		{"DELETE is not allowed", []request{
			{"POST", "id=A", "", initialize, 0},
			{"DELETE", "status=405", "Mcp-Session-Id: A", "", 0},
			{"POST", "", "Mcp-Session-Id: A", list, 0},
		}, []string{"end"}},
		{"a session from before", []request{
			{"POST", "", "Mcp-Session-Id: A", list, 0},
			{"POST", "", "Mcp-Session-Id: A", list, 0},
			{"POST", "", "Mcp-Session-Id: B", list, 1},
		}, []string{"end", "end"}},
		{"no ids", []request{
			{"POST", "", "", initialize, 0},
			{"POST", "", "", list, 0},
			{"GET", "", "Accept: text/event-stream", "", 0},
			{"POST", "", "User-Agent: other", initialize, 1},
			{"POST", "", "", list, 0},
			{"POST", "", "", initialize, 2},
			{"POST", "", "", list, 2},
			{"POST", "", "User-Agent: other", list, 1},
		}, []string{"the client began another connection", "end", "end"}},
		{"modern", []request{
			{"POST", "", "", named(modern, "a"), 0},
			{"POST", "", "", named(modern, "b"), 1},
			{"POST", "", "", named(modern, "a"), 0},
			{"POST", "", "Authorization: Bearer x", named(modern, "a"), 2},
		}, []string{"end", "end", "end"}},
		{"asked for what it speaks", []request{
			{"POST", "status=400", "", named(discover, "a"), 0},
			{"POST", "id=A", "", named(initialize, "a"), 0},
			{"POST", "", "", named(modern, "a"), 1},
		}, []string{"end", "end"}},
		{"two ask at once", []request{
			{"POST", "status=400", "", named(discover, "a"), 0},
			{"POST", "status=400", "", named(discover, "b"), 1},
			{"POST", "id=B", "", named(initialize, "b"), 1},
			{"POST", "id=A", "", named(initialize, "a"), 0},
		}, []string{"end", "end"}},
		{"login", []request{
			{"POST", "status=401", "", initialize, 0},
			{"POST", "id=A", "Authorization: Bearer x", initialize, 0},
			{"POST", "status=401", "Authorization: Bearer y", initialize, 1},
			{"POST", "id=B", "Authorization: Bearer z", initialize, 2},
		}, []string{"end", "end", "end"}},
		{"an old server", []request{
			{"POST", "status=405", "", initialize, 0},
			{"GET", "endpoint=/messages", "Accept: text/event-stream", "", 0},
			{"GET", "endpoint=/messages", "Accept: text/event-stream", "", 1},
		}, []string{"the event stream ended", "the event stream ended"}},
		{"ACP", []request{
			{"POST", "acp=A", "", initialize, 0},
			{"POST", "", "Acp-Connection-Id: A", list, 0},
			{"DELETE", "status=202", "Acp-Connection-Id: A", "", 0},
		}, []string{"the client deleted the session"}},
		{"of no connection", []request{
			{"GET", "status=404", "", "", 0},
			{"POST", "id=A", "", initialize, 1},
			{"OPTIONS", "", "", "", 0},
			{"POST", "", "", "no JSON", 0},
			{"POST", "", "", "{}", 0},
		}, []string{"end", "end"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := server(t, func(w http.ResponseWriter, in *http.Request) {
				q := in.URL.Query()
				for header, v := range map[string]string{"Mcp-Session-Id": q.Get("id"), "Acp-Connection-Id": q.Get("acp")} {
					if v != "" {
						w.Header().Set(header, v)
					}
				}
				if e := q.Get("endpoint"); e != "" {
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", e)
					return
				}
				status := http.StatusOK
				fmt.Sscan(q.Get("status"), &status)
				w.WriteHeader(status)
			})
			f := start(t, s.URL+"/mcp", nil)
			want := map[int]int{} // streams of each tape
			for i, q := range tt.requests {
				in, _ := http.NewRequest(q.method, f.url+"?"+q.query, strings.NewReader(q.body))
				if name, value, ok := strings.Cut(q.header, ": "); ok {
					in.Header.Set(name, value)
				}
				res, err := http.DefaultClient.Do(in)
				if err != nil {
					t.Fatal(err)
				}
				io.ReadAll(res.Body)
				res.Body.Close()
				want[q.tape]++
				for tape, streams := range want {
					on := f.tape(tape)
					on.mu.Lock()
					if len(on.streams) != streams {
						t.Errorf("after request %d, tape %d has %d streams, want %d", i, tape, len(on.streams), streams)
					}
					on.mu.Unlock()
				}
			}
			f.stop()
			var closed []string
			n := 0
			for _, tape := range f.all() {
				for _, s := range tape.streams {
					if s.request.Guessed {
						n++
					}
				}
				closed = append(closed, strings.Replace(tape.closed, "the test ended", "end", 1))
			}
			if got, want := strings.Join(closed, "|"), strings.Join(tt.closed, "|"); got != want {
				t.Errorf("closed: %s, want %s", got, want)
			}
			if n != guessed[tt.name] {
				t.Errorf("of %d requests the connection was guessed, want %d", n, guessed[tt.name])
			}
		})
	}
}

// ask sends a request of a session to a relay.
func ask(r *relay.Relay, session string) {
	in := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	in.Header.Set("Mcp-Session-Id", session)
	r.ServeHTTP(httptest.NewRecorder(), in)
}

// TestIdle: a connection without requests ends after ten minutes, and continues on a new
// tape; if there are too many, the one that has been idle longest ends.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, "http://127.0.0.1:1/mcp") // nothing listens there
		ask(f.Relay, "A")
		time.Sleep(9 * time.Minute)
		ask(f.Relay, "A")
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if a := f.tape(0); a.why() != "" {
			t.Errorf("closed: %q, and it is in use", a.why())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if a := f.tape(0); a.why() != "idle" || len(a.streams) != 2 {
			t.Errorf("closed: %q after %d requests, want idle after 2", a.why(), len(a.streams))
		}
		ask(f.Relay, "A")
		if n := len(f.all()); n != 2 {
			t.Errorf("%d tapes, want 2", n)
		}
		for i := range 200 {
			time.Sleep(time.Second)
			ask(f.Relay, fmt.Sprint(i))
		}
		synctest.Wait()
		open := 0
		for i, tape := range f.all() {
			if tape.why() == "" {
				open++
			}
			if oldest := i < 202-128; oldest != (tape.why() != "") {
				t.Errorf("tape %d of 202 is closed: %q", i, tape.why())
			}
		}
		if open != 128 {
			t.Errorf("%d tapes are open, want 128", open)
		}
		f.Close("end")
		for i, tape := range f.all() {
			if tape.why() == "" {
				t.Errorf("tape %d is open", i)
			}
		}
	})
}
