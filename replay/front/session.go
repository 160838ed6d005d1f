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

// A session is one client, with a player of its own. It takes what the player writes, and
// gives each frame to the stream on which it goes to the client.
type session struct {
	id        string // empty: the server on the tape gave none
	recording *recording
	take      taker
	in        *io.PipeWriter // of the player
	frame     []byte         // what the player has written of the next frame
	order     sync.Mutex     // of POSTs: the next may come before the player has the message of an accepted one

	ended  chan struct{} // closed when the player has ended
	result Result        // of the player, once it has ended

	mu       sync.Mutex         // guards what follows, and the streams
	calls    map[string]*stream // by the ids of requests that are not answered
	posts    map[string]*stream // of ACP, by the ids of requests that may be refused: the player has not taken them
	recorded map[uint64]*stream // POSTs by the recorded stream of their requests
	own      *stream            // of the server, for a GET; of ACP, of the connection; of a WebSocket, the only one
	scoped   map[string]*stream // of ACP, by session
	log      []sent             // the last events with ids
	over     bool
	deleted  bool // by the client
	why      string
}

// A taker gives a message of the player to a stream of the session. s.mu is held.
type taker func(s *session, m *message)

// A message is a frame of the player, or an entry of one that is a batch.
type message struct {
	raw      []byte
	kind     wire.Kind
	answered []string // ids of the requests that it answers
	at       *place   // where it stood on the tape; nil: not known
	call     []byte   // id of the request that it answers or is about, nil if it is about none
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

// opening returns the events with which the response of an exchange begins.
func opening(x *exchange) (events []event) {
	if x == nil {
		return nil
	}
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

// Sent is replay.Watcher.Sent.
func (s *session) Sent(seq uint64, call []byte) {
	raw := bytes.TrimRight(s.frame, "\r\n")
	s.frame = nil
	kind, answered := answers(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(s, &message{raw: raw, kind: kind, answered: answered, at: s.recording.places[seq], call: call})
}

// isMessage reports whether it is one of JSON-RPC. A line on stdout may be none.
func (m *message) isMessage() bool { return m.kind.IsMessage() || m.kind == wire.Oversized }

// put adds a message to what a stream has to send.
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

// answers returns the kind of a frame, and the ids of the requests that it answers.
func answers(raw []byte) (kind wire.Kind, ids []string) {
	kind = rpc.EachIn(raw, func(_ []byte, e wire.Envelope) {
		if e.MessageKind() == wire.Response {
			ids = append(ids, string(e.ID))
		}
	})
	return kind, ids
}

// ask begins the stream of a POST that has requests with some ids.
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

// expect notes that the answer to a request is to go to a stream. s.mu is held.
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

// forget notes that nothing more is to come for a request. A POST ends with its last one.
// s.mu is held.
func (s *session) forget(id string) {
	st := s.calls[id]
	delete(s.calls, id)
	delete(st.open, id)
	st.done = st.done || st.post && len(st.open) == 0
	st.signal()
}

// finish ends all streams, when the player has ended.
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

// gone reports whether there is no such session any more: the client has deleted it, or
// the server on the tape ended. After a miss it goes on, to tell of that.
func (s *session) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deleted || s.over && len(s.result.Report.Misses) == 0
}

// isOver reports whether nobody will ask for the session any more, and the player has
// ended.
func (s *session) isOver() bool {
	select {
	case <-s.ended:
		return s.gone()
	default:
		return false
	}
}

// remains returns what is left of a session that is over.
func (s *session) remains() *session {
	return &session{id: s.id, in: s.in, ended: s.ended, result: s.result, over: true, deleted: true}
}

// delete ends the session for the client.
func (s *session) delete() {
	s.mu.Lock()
	s.deleted = true
	s.mu.Unlock()
	s.in.Close()
}
