// Package front plays the server of a recorded MCP tape over streamable HTTP (MCP
// 2025-11-25, Transports). The messages are those of package replay; front gives each to
// the response in which the client looks for it: an answer, and what came before it on its
// stream, to the POST that asked; the rest to the stream of a GET. It works for tapes of
// stdio too.
//
// Each client has a player of its own, so several can come, one after the other or at
// once. Status codes, event ids and the like are those of the tape. The package does not
// serve ACP, the older transport HTTP+SSE, WebSockets or TLS.
package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/replay"
)

const (
	sessionHeader   = "Mcp-Session-Id"
	lastEventHeader = "Last-Event-ID"
	eventStream     = "text/event-stream"
)

// A Front is an http.Handler, to be used with relay.Serve. The exported fields are set
// before that.
type Front struct {
	relay.Guard
	Address *url.URL  // where clients reach it: http, without a path
	Stderr  io.Writer // for what the server on the tape wrote to its stderr; used by all players at once; nil: nowhere

	agent     replay.Agent
	recording *recording
	ctx       context.Context // of the players; Close ends it
	cancel    context.CancelFunc

	mu        sync.Mutex
	sessions  []*session // in the order in which they began; guarded by mu, as is what follows
	unsettled []*session // those without initialize so far
	closed    bool
}

// New returns a Front that plays the tape of an agent. Its other fields count for each
// client; Watcher and Live must not be set.
func New(a replay.Agent) (*Front, error) {
	if len(a.Tapes) != 1 {
		return nil, fmt.Errorf("a server is played from one tape, not from %d", len(a.Tapes))
	}
	info, err := a.Tapes[0].Info()
	if err != nil {
		return nil, err
	}
	if info.Connection.Protocol != dialect.MCP {
		return nil, errors.New("the tape is not of an MCP server, and only those are played over HTTP")
	}
	r, err := readRecording(a.Tapes[0])
	if err != nil {
		return nil, err
	}
	f := &Front{agent: a, recording: r, Stderr: io.Discard}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f, nil
}

// Path returns the path under which the server is reached: that of the tape, or /mcp.
func (f *Front) Path() string {
	if f.recording.path == "" {
		return "/mcp"
	}
	return f.recording.path
}

// ServeHTTP answers one request.
func (f *Front) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	if why := f.Refusal(in, f.Address); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	if in.URL.Path != f.Path() {
		http.Error(w, "the server is at "+f.Path(), http.StatusNotFound)
		return
	}
	switch in.Method {
	case http.MethodPost:
		f.post(w, in)
	case http.MethodGet:
		f.get(w, in)
	case http.MethodDelete:
		f.delete(w, in)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "want GET, POST or DELETE", http.StatusMethodNotAllowed)
	}
}

// session returns the session of a request whose body has a method; empty: none has one.
// If there is no such session, it answers the request, and returns nil.
func (f *Front) session(w http.ResponseWriter, in *http.Request, method string) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id := in.Header.Get(sessionHeader); id != "" {
		for _, s := range f.sessions {
			if s.id == id && !s.gone() {
				return s
			}
		}
		http.Error(w, "there is no such session", http.StatusNotFound)
		return nil
	}
	last := len(f.sessions) - 1
	switch {
	case f.closed:
		http.Error(w, "the replay is ending", http.StatusServiceUnavailable)
		return nil
	case method == "initialize":
		if len(f.unsettled) == 0 {
			return f.begin()
		}
		s := f.unsettled[0]
		f.unsettled = f.unsettled[1:]
		return s
	case method == "server/discover" && f.recording.free[method]: // with it a client begins, if it does not with initialize
		f.unsettled = append(f.unsettled, f.begin())
		return f.unsettled[len(f.unsettled)-1]
	case !f.recording.named() && last >= 0 && !f.sessions[last].gone():
		return f.sessions[last]
	case method != "" && (!f.recording.named() || f.recording.free[method]):
		if len(f.unsettled) == 0 {
			f.unsettled = append(f.unsettled, f.begin())
		}
		return f.unsettled[len(f.unsettled)-1]
	}
	http.Error(w, "the header "+sessionHeader+" is missing", http.StatusBadRequest)
	return nil
}

// begin begins a session. f.mu is held.
func (f *Front) begin() *session {
	id := f.recording.session
	if f.recording.stdio() {
		id = "replay"
	}
	if n := len(f.sessions) + 1; n > 1 && id != "" {
		id = fmt.Sprintf("%s~%d", id, n)
	}
	s := start(f.ctx, f.agent, f.recording, id, f.Stderr)
	f.sessions = append(f.sessions, s)
	return s
}

// A Result says how the replay for one client went.
type Result struct {
	Session string // its id; empty: it had none
	Report  replay.Report
	Err     error // replay.ErrDiverged if the client left the tape
}

// closingTime is how long players may take to end: their pace, or a tape that is long.
const closingTime = 3 * time.Second

// Close ends the players, and returns how they went, in the order in which the clients
// came. If none came, it is as if one had come and said nothing. The requests must have
// ended, as when relay.Serve has returned.
func (f *Front) Close() (results []Result) {
	f.mu.Lock()
	f.closed = true
	if len(f.sessions) == 0 {
		f.begin()
	}
	all := f.sessions
	f.mu.Unlock()
	for _, s := range all {
		s.in.Close()
	}
	late := time.AfterFunc(closingTime, f.cancel)
	defer late.Stop()
	defer f.cancel()
	for _, s := range all {
		<-s.ended
		results = append(results, s.result)
	}
	return results
}
