package relay_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/acptap/acptap/proxy/wire"
)

// spoken returns the messages in the bytes of one direction of a WebSocket, and the code
// and the reason with which it was closed.
func spoken(sent *bytes.Buffer) []string {
	var all []string
	var message strings.Builder
	decoder := &wire.SocketDecoder{}
	take := func(p wire.Piece) {
		switch {
		case p.Kind == wire.Mark:
			if c := wire.ReadMark(wire.Frame{Kind: wire.Mark, Raw: p.Bytes}).Close; c != nil {
				all = append(all, fmt.Sprintf("close %d %s", c.Code, c.Reason))
			}
		default:
			message.Write(p.Bytes)
			if p.Last {
				all = append(all, message.String())
				message.Reset()
			}
		}
	}
	decoder.Feed(sent.Bytes(), take)
	decoder.Flush(take)
	return all
}

// echo says every message again, until the client closes with its code, or says bye.
func echo(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, in *http.Request) {
		w.Header().Set("Acp-Connection-Id", "C")
		conn, err := websocket.Accept(w, in, &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover})
		if err != nil {
			t.Error(err)
			return
		}
		conn.SetReadLimit(-1)
		for {
			kind, p, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			if string(p) == "bye" {
				conn.Close(websocket.StatusInternalError, "no more")
				return
			}
			if err := conn.Write(context.Background(), kind, p); err != nil {
				t.Error(err)
			}
		}
	}
}

func dialSocket(t *testing.T, f *fixture) *websocket.Conn {
	t.Helper()
	conn, res, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(f.url, "http"), &websocket.DialOptions{CompressionMode: websocket.CompressionContextTakeover})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	if got := res.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		t.Errorf("the client got extensions %q", got)
	}
	return conn
}

// TestSocketPeers: two peers that would compress speak as they would without a relay, and
// the tape can be read: messages masked or not, in fragments, of many sizes; and who closed, with what code.
func TestSocketPeers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		close func(*websocket.Conn)
		last  string // what both sides say last
	}{
		{"client closes", func(c *websocket.Conn) { c.Close(4001, "done") }, "close 4001 done"},
		{"server closes", func(c *websocket.Conn) {
			c.Write(context.Background(), websocket.MessageText, []byte("bye"))
			c.Read(context.Background())
		}, "close 1011 no more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, server(t, echo(t)).URL+"/acp", nil)
			conn := dialSocket(t, f)
			var want []string
			say := func(parts ...string) {
				w, err := conn.Writer(t.Context(), websocket.MessageText)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range parts {
					if _, err := io.WriteString(w, p); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				want = append(want, strings.Join(parts, ""))
				if _, got, err := conn.Read(t.Context()); string(got) != want[len(want)-1] || err != nil {
					t.Fatalf("got %.80q, %v, want %.80q", got, err, want[len(want)-1])
				}
			}
			for _, n := range []int{0, 125, 126, 65535, 65536, 1 << 20} {
				say(`{"jsonrpc":"2.0","method":"m","params":{"text":"` + strings.Repeat("x", n) + `"}}`)
			}
			say(`{"jsonrpc":"2.0",`, `"method":"naïve`, ` ☃","params":{}}`)
			tt.close(conn)
			tape := f.tape(0)
			one := tape.stream(1)
			tape.await(func() bool { return tape.closed != "" })
			for dir := range 2 {
				got := spoken(&one.sent[dir])
				if dir == 0 && len(got) > 1 && got[len(got)-2] == "bye" {
					got = slices.Delete(got, len(got)-2, len(got)-1)
				}
				if want := append(slices.Clone(want), tt.last); !slices.Equal(got, want) {
					t.Errorf("%s on the tape:\n%.3000q\nwant\n%.3000q", wire.Direction(dir), got, want)
				}
			}
			if tape.facts.Transport != "ws" || tape.closed != "the WebSocket was closed" {
				t.Errorf("on the tape: %s, closed: %s", tape.facts.Transport, tape.closed)
			}
			if one.ends[1].Error == "" && one.ends[0].Error != "" {
				t.Errorf("the server ended, and the client's side: %s", one.ends[0].Error)
			}
			if one.sent[0].Bytes()[1]&0x80 == 0 {
				t.Error("what the client sent is not masked on the tape")
			}
		})
	}
}

// TestPings: pings and pongs cross in both directions while nothing is said.
func TestPings(t *testing.T) {
	ponged := make(chan error, 1)
	s := server(t, func(w http.ResponseWriter, in *http.Request) {
		conn, err := websocket.Accept(w, in, nil)
		if err != nil {
			t.Error(err)
			return
		}
		closed := conn.CloseRead(context.Background())
		ponged <- conn.Ping(closed)
		<-closed.Done()
	})
	f := start(t, s.URL+"/acp", nil)
	conn := dialSocket(t, f)
	conn.CloseRead(t.Context())
	if err := conn.Ping(t.Context()); err != nil {
		t.Errorf("the client's ping: %v", err)
	}
	if err := <-ponged; err != nil {
		t.Errorf("the server's ping: %v", err)
	}
	conn.Close(websocket.StatusGoingAway, "")
	one := f.tape(0).stream(1)
	if got := spoken(&one.sent[0]); !slices.Equal(got, []string{"close 1001 "}) {
		t.Errorf("on the tape: %q", got)
	}
}

// TestUpgradeRefused: the client gets the server's answer as it is.
func TestUpgradeRefused(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusUpgradeRequired} {
		s := server(t, func(w http.ResponseWriter, in *http.Request) { http.Error(w, "not you", status) })
		f := start(t, s.URL+"/acp", nil)
		_, res, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(f.url, "http"), nil)
		if err == nil || res == nil || res.StatusCode != status {
			t.Fatalf("%d: the client got %v, %v", status, res, err)
		}
		if text, _ := io.ReadAll(res.Body); string(text) != "not you\n" {
			t.Errorf("%d: the client got %q", status, text)
		}
		tape := f.tape(0)
		one := tape.stream(1)
		tape.await(func() bool { return tape.closed != "" })
		if one.heads[0].Status != status || one.sent[1].String() != "not you\n" || tape.closed != "no WebSocket was opened" {
			t.Errorf("%d: on the tape:\n%s", status, tape)
		}
	}
}
