package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/rule"
)

// A Server serves the users of one proxy.
type Server struct {
	desk     *rule.Desk
	tape     string
	listener *net.UnixListener
	remove   func()
	done     sync.WaitGroup // goroutines of the server and its connections

	mu     sync.Mutex
	conns  map[*conn]struct{} // guarded by mu
	closed bool               // guarded by mu
}

// Serve listens at path for users of a desk. tape is the tape that the proxy records. The
// caller closes the Server.
func Serve(path, tape string, desk *rule.Desk) (*Server, error) {
	l, remove, err := listen(path)
	if err != nil {
		return nil, err
	}
	s := &Server{desk: desk, tape: tape, listener: l, remove: remove, conns: map[*conn]struct{}{}}
	s.done.Go(s.accept)
	return s, nil
}

// accept accepts connections until the listener is closed.
func (s *Server) accept() {
	for {
		c, err := s.listener.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // for example, too many open files
			time.Sleep(100 * time.Millisecond)
		default:
			s.greet(c)
		}
	}
}

// greet serves a connection unless it is another user's or there are too many.
func (s *Server) greet(u *net.UnixConn) {
	uid, err := peer(u)
	if err == nil && uid != os.Geteuid() {
		err = fmt.Errorf("this proxy belongs to another user")
	}
	if err == nil {
		err = s.take(u)
	}
	if err == nil {
		return
	}
	u.SetWriteDeadline(time.Now().Add(time.Second))
	u.Write(encode(message{Version: "2.0", Method: "refused", Params: raw(Notification{Why: err.Error()})}))
	u.Close()
}

// take serves a connection until it ends. If it refuses the connection, it returns why.
func (s *Server) take(u *net.UnixConn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return rule.ErrOver
	case len(s.conns) >= maxConns:
		return fmt.Errorf("%d users are connected already", maxConns)
	}
	c := newConn(s, u)
	s.conns[c] = struct{}{}
	s.done.Go(func() {
		defer s.forget(c)
		c.serve()
	})
	return nil
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Close tells users that the proxy has ended, and removes the socket. Call it only after the
// proxy has ended or failed to start.
func (s *Server) Close() {
	s.listener.Close()
	s.remove()
	s.desk.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		c.end()
	}
	s.mu.Unlock()
	s.done.Wait()
}
