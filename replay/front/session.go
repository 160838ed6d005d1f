package front

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A session is one client and its player. It sends each frame that the player writes on
// the stream on which the client expects it.
type session struct {
	id        string // empty: the server on the tape gave none
	recording *recording
	take      taker
	in        *io.PipeWriter // of the player
	frame     []byte         // the part of the next frame that the player has written
	order     sync.Mutex     // serialises POSTs, so that none overtakes the message of an accepted one

	ended  chan struct{} // closed when the player has ended
	result Result        // of the player, once it has ended

	mu       sync.Mutex         // guards the fields below, and the streams
	calls    map[string]*stream // by the ids of unanswered requests
	posts    map[string]*stream // of ACP, by the ids of requests that the player has not accepted: they may be refused
	recorded map[uint64]*stream // POSTs by the recorded stream of their requests
	own      *stream            // for GETs: the server's own stream, or that of the ACP connection; a WebSocket's only stream
	scoped   map[string]*stream // streams of ACP sessions
	log      []sent             // the last events with ids
	over     bool
	deleted  bool // by the client
	why      string
}

// A taker puts a message of the player onto a stream of the session. s.mu is held.
type taker func(s *session, m *message)

// A message is a frame of the player, or an entry of a batch.
type message struct {
	raw      []byte
	kind     wire.Kind
	answered []string // ids of the requests that it answers
	at       *place   // where it was on the tape; nil: unknown
	call     []byte   // id of the request that it answers or concerns; nil if there is none
}

// start starts a player.
func start(ctx context.Context, a replay.Agent, r *recording, id string, take taker, stderr io.Writer) *session {
	in, out := io.Pipe()
	s := &session{
		id: id, recording: r, take: take, in: out, ended: make(chan struct{}),
		calls: make(map[string]*stream), posts: make(map[string]*stream), recorded: make(map[uint64]*stream),
		own: newStream(), scoped: make(map[string]*stream),
	}
	a.Watcher = s
	s.own.pending = opening(r.listens[""])
	go func() {
		defer close(s.ended)
		report, err := a.Run(ctx, in, s, stderr)
		s.result = Result{Session: id, Report: report, Err: err}
		s.finish()
	}()
	return s
}

// opening returns the events that come before the first message of a response.
func opening(x *exchange) (events []event) {
	if x == nil {
		return nil
	}
	for _, e := range x.opening {
		events = append(events, event{fields: e})
	}
	return events
}

// Write appends bytes of the player's next frame.
func (s *session) Write(p []byte) (int, error) {
	s.frame = append(s.frame, p...)
	return len(p), nil
}

// Matched implements replay.Watcher.
func (s *session) Matched(seq uint64, id []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := s.recording.posts[seq]
	x := s.recording.streams[number]
	refused := x.refuses() && !x.answers
	post := s.posts[string(id)]
	s.taken(string(id))
	st := s.calls[string(id)]
	switch {
	case st == nil || x == nil:
	case refused && post != nil:
		post.recorded = x
		s.forget(string(id))
	case refused && !st.post:
		s.fail(st, string(id), fmt.Sprintf("the tape has status %d in place of an answer", x.status))
	case st.post:
		st.recorded, s.recorded[number] = x, st
		if x.sse {
			st.pending = append(opening(x), st.pending...)
		}
		if refused {
			s.forget(string(id))
		}
		st.signal()
	}
}

// Sent implements replay.Watcher.
func (s *session) Sent(seq uint64, call []byte) {
	raw := bytes.TrimRight(s.frame, "\r\n")
	s.frame = nil
	kind, answered := answers(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(s, &message{raw: raw, kind: kind, answered: answered, at: s.recording.places[seq], call: call})
}

// isMessage reports whether m is a JSON-RPC message. The agent may also have written other
// lines to stdout.
func (m *message) isMessage() bool { return m.kind.IsMessage() || m.kind == wire.Oversized }

// put appends a message to a stream.
func (s *session) put(st *stream, m *message) {
	e := event{raw: m.raw}
	if m.at != nil {
		for _, before := range m.at.before {
			st.pending = append(st.pending, event{fields: before})
		}
		e.fields = m.at.event
		e.fields.Data = ""
	}
	st.pending = append(st.pending, e)
	for _, id := range m.answered {
		s.taken(id)
		if s.calls[id] == st {
			s.forget(id)
		}
	}
	st.signal()
}

// answers returns the kind of a frame and the ids of the requests that it answers.
func answers(raw []byte) (kind wire.Kind, ids []string) {
	kind = rpc.EachIn(raw, func(_ []byte, e wire.Envelope) {
		if e.MessageKind() == wire.Response {
			ids = append(ids, string(e.ID))
		}
	})
	return kind, ids
}

// ask makes the stream for a POST whose requests have these ids.
func (s *session) ask(ids []string) *stream {
	st := newStream()
	st.post = true
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.expect(st, id)
	}
	return st
}

// expect notes that the answer to a request goes to a stream. s.mu is held.
func (s *session) expect(st *stream, id string) {
	st.open[id] = true
	s.calls[id] = st
	if s.over {
		s.fail(st, id, s.why)
	}
}

// fail answers a request with an error. s.mu is held.
func (s *session) fail(st *stream, id, why string) {
	st.pending = append(st.pending, event{raw: wire.NewFailure([]byte(id), wire.InternalError, "acptap replay: "+why, nil)})
	s.forget(id)
}

// forget notes that nothing more comes for a request. A POST ends with its last request.
// s.mu is held.
func (s *session) forget(id string) {
	st := s.calls[id]
	delete(s.calls, id)
	delete(st.open, id)
	st.done = st.done || st.post && len(st.open) == 0
	st.signal()
}

// finish ends all streams once the player has ended.
func (s *session) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over, s.why = true, "the replay has ended"
	if m := s.result.Report.Misses; len(m) > 0 {
		s.why += ": " + m[0].String()
	}
	for id, st := range s.calls {
		s.fail(st, id, s.why)
	}
	for id := range s.posts {
		s.taken(id)
	}
	s.own.end()
	for _, st := range s.scoped {
		st.end()
	}
}

// gone reports whether the session no longer exists for clients: its client has deleted
// it, or the agent on the tape has exited. After a miss the session remains, to report
// it.
func (s *session) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deleted || s.over && len(s.result.Report.Misses) == 0
}

// isOver reports whether the session is gone and its player has ended.
func (s *session) isOver() bool {
	select {
	case <-s.ended:
		return s.gone()
	default:
		return false
	}
}

// remains returns what is kept of an ended session.
func (s *session) remains() *session {
	return &session{id: s.id, in: s.in, ended: s.ended, result: s.result, over: true, deleted: true}
}

// delete ends the session at the client's request.
func (s *session) delete() {
	s.mu.Lock()
	s.deleted = true
	s.mu.Unlock()
	s.in.Close()
}
