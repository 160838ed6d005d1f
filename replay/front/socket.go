package front

import (
	"context"
	"net/http"

	"github.com/coder/websocket"

	"github.com/acptap/acptap/proxy/dialect"
)

// socket plays the tape over a WebSocket: a message of text is one of JSON-RPC.
func (f *Front) socket(w http.ResponseWriter, in *http.Request) {
	f.mu.Lock()
	id, closed := f.name(), f.closed
	f.mu.Unlock()
	if closed {
		http.Error(w, "the replay is ending", http.StatusServiceUnavailable)
		return
	}
	if f.protocol == dialect.ACP {
		w.Header().Set(connectionHeader, id)
	}
	conn, err := websocket.Accept(w, in, &websocket.AcceptOptions{
		Subprotocols:       []string{"mcp"}, // which clients of MCP ask for; those of ACP ask for none
		InsecureSkipVerify: true,            // Guard has judged the origin
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return // it has been answered
	}
	conn.SetReadLimit(maxRequest)
	f.mu.Lock()
	s := f.begin(id, (*session).takeSocket)
	f.mu.Unlock()
	defer conn.CloseNow()
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.hear(conn)
	}()
	_ = conn.Close(s.speak(in.Context(), conn)) // fails if the client has gone
	<-read
}

// hear gives the player what the client says, until the socket is closed.
func (s *session) hear(conn *websocket.Conn) {
	defer s.delete()
	for {
		kind, p, err := conn.Read(context.Background()) // speak closes the socket
		if err != nil {
			return
		}
		if kind != websocket.MessageText { // the RFD: they are ignored
			continue
		}
		line := oneLine(p)
		_, ids := asked(line)
		s.mu.Lock()
		for _, id := range ids {
			s.expect(s.own, id)
		}
		s.mu.Unlock()
		s.say(line)
	}
}

// speak gives the client what the player says, until that ends or the client has gone. It
// returns how the socket is to be closed.
func (s *session) speak(ctx context.Context, conn *websocket.Conn) (websocket.StatusCode, string) {
	wake := s.hold(s.own)
	for {
		p, ok := s.next(ctx, s.own, wake)
		if !ok {
			return websocket.StatusGoingAway, "the replay is ending"
		}
		for _, e := range p.events {
			if e.raw == nil {
				continue // an event without a message, from a tape of HTTP
			}
			if conn.Write(ctx, websocket.MessageText, e.raw) != nil {
				return websocket.StatusGoingAway, ""
			}
		}
		if p.done {
			return s.farewell()
		}
	}
}

// farewell returns how the agent on the tape closed the socket, if it did.
func (s *session) farewell() (websocket.StatusCode, string) {
	c := s.recording.closed
	if c == nil || c.Code == int(websocket.StatusNoStatusRcvd) {
		return websocket.StatusNormalClosure, ""
	}
	return websocket.StatusCode(c.Code), c.Reason
}

// takeSocket gives a message to the socket. A line that is none crosses too, if it did so on
// a WebSocket then.
func (s *session) takeSocket(m *message) {
	if m.isMessage() || s.recording.socket {
		s.put(s.own, m)
	}
}
