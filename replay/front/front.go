// Package front plays the agent or server of a tape over HTTP and WebSockets. It receives
// the messages from package replay and puts each into the response, or onto the socket,
// where the client expects it. The tape may have been recorded over another transport,
// including stdio.
//
// An MCP server is played over streamable HTTP (MCP 2025-11-25, Transports): an answer,
// and what preceded it on its stream, goes to the POST that asked; the rest goes to the
// stream of a GET. An ACP agent follows its RFD (Streamable HTTP & WebSocket Transport):
// everything but the answer to initialize goes to the streams of GETs, one for the
// connection and one for each session. Over a WebSocket, each text message is one
// JSON-RPC message.
//
// Each client has its own player, so several clients can connect, in sequence or
// concurrently. Status codes, event ids and so on come from the tape. The package serves
// neither MCP's older HTTP+SSE transport nor TLS.
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

// A Front is an http.Handler for relay.Serve. Set the exported fields before serving.
type Front struct {
	relay.Guard
	Address *url.URL  // where clients reach it: an http URL without a path
	Stderr  io.Writer // receives what the agent on the tape wrote to its stderr; all players write to it concurrently; nil: discarded

	agent     replay.Agent
	protocol  dialect.Protocol
	recording *recording
	ctx       context.Context // of the players; Close ends it
	cancel    context.CancelFunc

	mu        sync.Mutex
	names     int        // number of sessions given an id; guarded by mu, as are the fields below
	sessions  []*session // in starting order
	unsettled []*session // sessions whose client has not sent initialize
	closed    bool
}

// New returns a Front that plays the tapes of a. The other fields of a apply to each
// client; Watcher and Live must not be set. Only an ACP agent may have several tapes.
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

// mcpPath is the path that most servers use.
const mcpPath = "/mcp"

// Path returns the path at which clients reach the agent: the path on the tape, or /acp
// or /mcp. For a server of the older transport it is /mcp too.
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

// name returns the id of the next session: the one on the tape, or an id derived from it.
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

// begin starts a session. Of ended sessions it keeps only the results. f.mu is held.
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

// find returns the session with an id, or nil. f.mu is held.
func (f *Front) find(id string) *session {
	for _, s := range f.sessions {
		if s.id == id && !s.gone() {
			return s
		}
	}
	return nil
}

// settle returns a session waiting for its client's initialize, or nil. f.mu is held.
func (f *Front) settle() *session {
	if len(f.unsettled) == 0 {
		return nil
	}
	s := f.unsettled[0]
	f.unsettled = f.unsettled[1:]
	return s
}

// refused notes that a session's initialize was refused, as on the tape. If the tape has
// another initialize, the client may try again.
func (f *Front) refused(s *session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recording.initializes > 1 {
		f.unsettled = append(f.unsettled, s)
	}
}

// A Result says how the replay went for one client.
type Result struct {
	Session string // its id; empty: it had none
	Report  replay.Report
	Err     error // replay.ErrDiverged if the client left the tape
}

// closingTime limits how long players may take to end when the pace is slow or the tape
// is long.
const closingTime = 3 * time.Second

// Close ends the players and returns their results in the order in which the clients
// connected. If no client connected, Close plays the tape to one that says nothing. All
// requests must have ended, as they have once relay.Serve returns.
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
