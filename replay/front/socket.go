package front

import (
	"context"
	"net/http"

	"github.com/coder/websocket"

	"github.com/acptap/acptap/proxy/dialect"
)

// socket plays the tape over a WebSocket: each text message is one JSON-RPC message.
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
		Subprotocols:       []string{"mcp"}, // MCP clients ask for it; ACP clients ask for none
		InsecureSkipVerify: true,            // Guard has checked the origin
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return // Accept has answered the request
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
	_ = conn.Close(s.speak(in.Context(), conn)) // fails if the client is gone
	<-read
}

// hear passes the client's messages to the player until the socket closes.
func (s *session) hear(conn *websocket.Conn) {
	defer s.delete()
	for {
		kind, p, err := conn.Read(context.Background()) // speak closes the socket
		if err != nil {
			return
		}
		if kind != websocket.MessageText { // the RFD says to ignore these
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

// speak passes the player's messages to the client until the player ends or the client
// disconnects. It returns the status with which to close the socket.
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

// farewell returns the status with which the agent on the tape closed the socket, if it
// did.
func (s *session) farewell() (websocket.StatusCode, string) {
	c := s.recording.closed
	if c == nil || c.Code == int(websocket.StatusNoStatusRcvd) {
		return websocket.StatusNormalClosure, ""
	}
	return websocket.StatusCode(c.Code), c.Reason
}

// takeSocket sends a message on the socket. It also sends other lines if the tape was
// recorded over a WebSocket.
func (s *session) takeSocket(m *message) {
	if m.isMessage() || s.recording.socket {
		s.put(s.own, m)
	}
}
