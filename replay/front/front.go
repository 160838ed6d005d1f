// Package front plays the agent or the server of a tape over HTTP and over WebSockets. The
// messages are those of package replay; front gives each to the response, or to the socket,
// in which the client looks for it. It works for tapes of stdio too, and a tape of one
// transport can be played over another.
//
// An MCP server is played over streamable HTTP (MCP 2025-11-25, Transports): an answer, and
// what came before it on its stream, go to the POST that asked; the rest to the stream of a
// GET. An ACP agent is played as its RFD says (Streamable HTTP & WebSocket Transport): all
// but the answer to initialize goes to the streams of GETs, one of the connection and one of
// each session. Over a WebSocket, a message of text is one of JSON-RPC.
//
// Each client has a player of its own, so several can come, one after the other or at
// once. Status codes, event ids and the like are those of the tape. The package does not
// serve the older transport HTTP+SSE of MCP, or TLS.
package front

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/replay"
)

const (
	sessionHeader    = "Mcp-Session-Id"
	connectionHeader = "Acp-Connection-Id"
	acpSessionHeader = "Acp-Session-Id"
	lastEventHeader  = "Last-Event-ID"
	eventStream      = "text/event-stream"
)

// A Front is an http.Handler, to be used with relay.Serve. The exported fields are set
// before that.
type Front struct {
	relay.Guard
	Address *url.URL  // where clients reach it: http, without a path
	Stderr  io.Writer // for what the agent on the tape wrote to its stderr; used by all players at once; nil: nowhere

	agent     replay.Agent
	protocol  dialect.Protocol
	recording *recording
	ctx       context.Context // of the players; Close ends it
	cancel    context.CancelFunc

	mu        sync.Mutex
	names     int        // given to sessions; guarded by mu, as is what follows
	sessions  []*session // in the order in which they began
	unsettled []*session // those without initialize so far
	closed    bool
}

// New returns a Front that plays the tape of an agent. Its other fields count for each
// client; Watcher and Live must not be set. There may be several tapes of ACP.
func New(a replay.Agent) (*Front, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	info, err := a.Tapes[0].Info()
	if err != nil {
		return nil, err
	}
	protocol := info.Connection.Protocol
	switch {
	case protocol == dialect.AnyProtocol:
		return nil, errors.New("the tape has no conversation of ACP or MCP that could be played")
	case protocol == dialect.MCP && len(a.Tapes) != 1:
		return nil, fmt.Errorf("a server is played from one tape, not from %d", len(a.Tapes))
	}
	r, err := readRecording(a.Tapes)
	if err != nil {
		return nil, err
	}
	f := &Front{agent: a, protocol: protocol, recording: r, Stderr: io.Discard}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f, nil
}

// mcpPath is the path that most servers have.
const mcpPath = "/mcp"

// Path returns the path under which the agent is reached: that of the tape, or /acp or
// /mcp. Of a server of the older transport that is /mcp too.
func (f *Front) Path() string {
	return cmp.Or(f.recording.path, "/"+f.protocol.String())
}

// ServeHTTP answers one request.
func (f *Front) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	if why := f.Refusal(in, f.Address); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	if in.URL.Path != f.Path() {
		http.Error(w, "the tape is played at "+f.Path(), http.StatusNotFound)
		return
	}
	post, get, del := f.post, f.get, f.delete
	if f.protocol == dialect.ACP {
		post, get, del = f.postACP, f.getACP, f.deleteACP
	}
	switch {
	case in.Method == http.MethodGet && strings.EqualFold(in.Header.Get("Upgrade"), "websocket"):
		f.socket(w, in)
	case in.Method == http.MethodPost:
		post(w, in)
	case in.Method == http.MethodGet:
		get(w, in)
	case in.Method == http.MethodDelete:
		del(w, in)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "want GET, POST or DELETE", http.StatusMethodNotAllowed)
	}
}

// name returns the id of the next session: that of the tape, or one that is made from it.
// f.mu is held.
func (f *Front) name() string {
	id := f.recording.session
	if id == "" && !f.recording.http {
		id = "replay"
	}
	if f.names++; f.names > 1 && id != "" {
		id = fmt.Sprintf("%s~%d", id, f.names)
	}
	return id
}

// begin begins a session. Of those that are over it keeps no more than how they went. f.mu
// is held.
func (f *Front) begin(id string, take taker) *session {
	for i, s := range f.sessions {
		if s.recording != nil && s.isOver() {
			f.sessions[i] = s.remains()
		}
	}
	s := start(f.ctx, f.agent, f.recording, id, take, f.Stderr)
	f.sessions = append(f.sessions, s)
	return s
}

// find returns the session with an id, nil if there is none. f.mu is held.
func (f *Front) find(id string) *session {
	for _, s := range f.sessions {
		if s.id == id && !s.gone() {
			return s
		}
	}
	return nil
}

// settle returns a session that waits for its client's initialize, nil if there is none.
// f.mu is held.
func (f *Front) settle() *session {
	if len(f.unsettled) == 0 {
		return nil
	}
	s := f.unsettled[0]
	f.unsettled = f.unsettled[1:]
	return s
}

// refused notes that the initialize of a session was refused, as it was on the tape. If
// that has another one, the client may try again.
func (f *Front) refused(s *session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recording.initializes > 1 {
		f.unsettled = append(f.unsettled, s)
	}
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
		f.begin("", (*session).takeSocket)
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
