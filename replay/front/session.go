package front

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/internal/jsonrpc"
)

// A session is one client, with a player of its own. It takes what the player writes, and
// gives each frame to the stream on which it goes to the client.
type session struct {
	id        string // empty: the server on the tape gave none
	recording *recording
	in        *io.PipeWriter // of the player
	frame     []byte         // what the player has written of the next frame

	ended  chan struct{} // closed when the player has ended
	result Result        // of the player, once it has ended

	mu       sync.Mutex         // guards what follows, and the streams
	calls    map[string]*stream // by the ids of requests that are not answered
	recorded map[uint64]*stream // POSTs by the recorded stream of their requests
	own      *stream            // of the server, for a GET
	log      []sent             // the last events with ids
	over     bool
	deleted  bool // by the client
	why      string
}

// start starts a player.
func start(ctx context.Context, a replay.Agent, r *recording, id string, stderr io.Writer) *session {
	in, out := io.Pipe()
	s := &session{
		id: id, recording: r, in: out, ended: make(chan struct{}),
		calls: make(map[string]*stream), recorded: make(map[uint64]*stream), own: newStream(),
	}
	a.Watcher = s
	if r.listens != nil {
		s.own.pending = opening(r.listens)
	}
	go func() {
		defer close(s.ended)
		report, err := a.Run(ctx, in, s, stderr)
		s.result = Result{Session: id, Report: report, Err: err}
		s.finish()
	}()
	return s
}

// opening returns the events with which the response of an exchange begins.
func opening(x *exchange) (events []event) {
	for _, e := range x.opening {
		events = append(events, event{fields: e})
	}
	return events
}

// Write takes bytes of a frame of the player.
func (s *session) Write(p []byte) (int, error) {
	s.frame = append(s.frame, p...)
	return len(p), nil
}

// Matched is replay.Watcher.Matched.
func (s *session) Matched(seq uint64, id []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.calls[string(id)]
	number := s.recording.posts[seq]
	x := s.recording.streams[number]
	if st == nil || x == nil {
		return
	}
	st.recorded, s.recorded[number] = x, st
	if x.sse {
		st.pending = append(opening(x), st.pending...)
	}
	if x.refuses() && !x.answers {
		delete(s.calls, string(id))
		st.done = true
	}
	st.signal()
}

// Sent is replay.Watcher.Sent.
func (s *session) Sent(seq uint64, call []byte) {
	raw := bytes.TrimRight(s.frame, "\r\n")
	s.frame = nil
	kind, answered := answers(raw)
	if !kind.IsMessage() && kind != wire.Oversized {
		return // a line that is no message, which HTTP has no place for
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.recording.places[seq]
	st := s.route(at, call, len(answered) > 0)
	if st == nil {
		return
	}
	e := event{raw: raw}
	if at != nil {
		for _, before := range at.before {
			st.pending = append(st.pending, event{fields: before})
		}
		e.fields = at.event
		e.fields.Data = ""
	}
	st.pending = append(st.pending, e)
	for _, id := range answered {
		if s.calls[id] == st {
			delete(s.calls, id)
		}
		delete(st.open, id)
	}
	st.done = st.done || len(answered) > 0 && len(st.open) == 0
	st.signal()
}

// route returns the stream that a frame goes to, nil if the client does not get it. Where
// the tape says on which stream it came, that counts.
func (s *session) route(at *place, call []byte, answer bool) *stream {
	if answer {
		return s.calls[string(call)] // MCP 2025-11-25: a stream of a GET has no answers
	}
	st := s.calls[string(call)]
	if at != nil {
		switch {
		case at.on.refuses():
			return nil // the answer to the POST has it
		case !at.on.resumes && s.recorded[at.stream] != nil:
			st = s.recorded[at.stream]
		case !at.on.resumes:
			st = s.own
		}
	}
	if st == nil || st.done {
		return s.own
	}
	return st
}

// answers returns the kind of a frame, and the ids of the requests that it answers.
func answers(raw []byte) (kind wire.Kind, ids []string) {
	e := scan(raw)
	if e.Kind != wire.Batch {
		if e.MessageKind() == wire.Response {
			ids = []string{string(e.ID)}
		}
		return e.Kind, ids
	}
	wire.Entries(raw, func(_ int, entry []byte) bool {
		if e := wire.Scan(entry); e.Kind == wire.Response {
			ids = append(ids, string(e.ID))
		}
		return true
	})
	return e.Kind, ids
}

// scan reads the envelope of a message, of a long one too.
func scan(raw []byte) wire.Envelope {
	e := wire.Scan(raw)
	if e.Kind == wire.Oversized && e.ID == nil {
		e.ID, _ = wire.LastID(raw[max(0, len(raw)-wire.TailSize):])
	}
	return e
}

// ask begins the stream for requests with some ids.
func (s *session) ask(ids []string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := newStream()
	for _, id := range ids {
		st.open[id] = true
		s.calls[id] = st
	}
	if s.over {
		s.giveUp(st)
	}
	return st
}

// finish ends all streams, when the player has ended.
func (s *session) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over, s.why = true, "the replay has ended"
	if m := s.result.Report.Misses; len(m) > 0 {
		s.why += ": " + m[0].String()
	}
	for _, st := range s.calls {
		s.giveUp(st)
	}
	clear(s.calls)
	s.own.done = true
	s.own.signal()
}

// giveUp answers the open requests of a stream with an error.
func (s *session) giveUp(st *stream) {
	for id := range st.open {
		st.pending = append(st.pending, event{raw: jsonrpc.Failure([]byte(id), jsonrpc.InternalError, "acptap replay: "+s.why, nil)})
	}
	clear(st.open)
	st.done = true
	st.signal()
}

// gone reports whether there is no such session any more: the client has deleted it, or
// the server on the tape ended. After a miss it goes on, to tell of that.
func (s *session) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deleted || s.over && len(s.result.Report.Misses) == 0
}

// delete ends the session for the client.
func (s *session) delete() {
	s.mu.Lock()
	s.deleted = true
	s.mu.Unlock()
	s.in.Close()
}

// status returns the status of the answer to a POST.
func status(x *exchange) int {
	if x == nil || x.status < 200 || x.status == 202 {
		return 200
	}
	return cmp.Or(x.status, 200)
}
