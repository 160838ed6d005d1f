package relay

import (
	"bufio"
	"net"
	"net/http"
)

// A writer writes the response to the client. It hides its ability to flush: ReverseProxy
// would flush from a separate goroutine, and not at all when the server breaks off.
type writer struct {
	w       http.ResponseWriter
	streams bool // flush after every write
	begun   bool // the head has been written
}

func (w *writer) Header() http.Header { return w.w.Header() }

func (w *writer) WriteHeader(status int) {
	w.w.WriteHeader(status)
	w.begun = status >= 200
	if w.streams {
		w.flush()
	}
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if w.streams && err == nil {
		err = http.NewResponseController(w.w).Flush()
	}
	return n, err
}

// Hijack hands over the connection to the client. http.ResponseController calls it.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.w).Hijack()
}

// flush sends what has been written. If that fails, the next Write fails too.
func (w *writer) flush() {
	if w.begun {
		_ = http.NewResponseController(w.w).Flush()
	}
}
