package front

import (
	"context"
	"net/http"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A stream carries messages to the client, as the answer to one POST or in response to
// GETs. Several requests may serve it in turn, each from where the previous one broke
// off. The session's mutex guards its fields.
type stream struct {
	post     bool            // it answers one POST and ends with the last answer
	open     map[string]bool // ids of unanswered requests
	recorded *exchange       // the recorded exchange that it replays; nil: unknown
	pending  []event
	done     bool          // nothing will follow
	wake     chan struct{} // wakes the request that serves the stream; closed when another one takes over; nil: none has served it yet
}

// An event is a message of the server, or an SSE event without one.
type event struct {
	raw    []byte   // the message; nil: none
	fields wire.SSE // fields of the recorded event; Data is used only if raw is nil
}

func newStream() *stream { return &stream{open: make(map[string]bool)} }

// end marks the stream as complete.
func (st *stream) end() {
	st.done = true
	st.signal()
}

func (st *stream) signal() {
	if st.wake == nil {
		return
	}
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// hold makes the caller serve the stream, in place of any other request.
func (s *session) hold(st *stream) (wake chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.wake != nil {
		close(st.wake)
	}
	st.wake = make(chan struct{}, 1)
	st.wake <- struct{}{}
	return st.wake
}

// A portion is what to send next on a stream.
type portion struct {
	events   []event
	done     bool
	recorded *exchange
}

// next waits for something to send. It returns false if the client is gone, or if another
// request now serves the stream.
func (s *session) next(ctx context.Context, st *stream, wake chan struct{}) (portion, bool) {
	select {
	case _, ok := <-wake:
		if !ok {
			return portion{}, false
		}
	case <-ctx.Done():
		return portion{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.wake != wake {
		return portion{}, false
	}
	p := portion{st.pending, st.done, st.recorded}
	st.pending = nil
	for _, e := range p.events {
		if e.fields.ID == "" {
			continue
		}
		if len(s.log) == logged {
			s.log = append(s.log[:0], s.log[1:]...)
		}
		s.log = append(s.log, sent{st, e})
	}
	return p, true
}

// logged is the number of events kept for clients that resume a stream.
const logged = 1000

// A sent is an event with an id, and the stream on which it was sent.
type sent struct {
	on    *stream
	event event
}

// since returns the stream on which the event with this id was sent, and what followed on
// it; nil if there is no such event.
func (s *session) since(id string) (st *stream, missed []event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.log {
		switch {
		case st == nil && e.event.fields.ID == id:
			st = e.on
		case st != nil && e.on == st:
			missed = append(missed, e.event)
		}
	}
	return st, missed
}

// serve sends p, and then everything else on the stream, as events until the stream or
// the request ends.
func (s *session) serve(ctx context.Context, w http.ResponseWriter, st *stream, wake chan struct{}, p portion) {
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // fails if the client is gone, as writing does
	for ok := true; ok; p, ok = s.next(ctx, st, wake) {
		writeEvents(w, p.events)
		if p.done {
			return
		}
	}
}

// writeEvents writes events as text/event-stream (WHATWG HTML, section 9.2).
func writeEvents(w http.ResponseWriter, events []event) {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	for _, e := range events {
		line("event", e.fields.Event)
		line("id", e.fields.ID)
		line("retry", e.fields.Retry)
		data := e.fields.Data
		if e.raw != nil {
			data = string(e.raw)
		}
		for text := range strings.SplitSeq(data, "\n") {
			b.WriteString("data: " + strings.TrimSuffix(text, "\r") + "\n")
		}
		b.WriteString("\n")
	}
	if b.Len() > 0 {
		_, _ = w.Write([]byte(b.String()))
		_ = http.NewResponseController(w).Flush()
	}
}
