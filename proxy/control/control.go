// Package control lets users change the rules of a running proxy and decide about held
// frames, over a Unix socket.
//
// Client and server exchange JSON-RPC 2.0 messages, one per line, each at most 32 MiB. The
// client begins with hello:
//
//	hello {version, attend}          → {tape, pid, version, held}
//	ping
//	held/list {id}                   → {held}; with id, only that one, whole
//	held/release {id, frame or text} → as it is, or with another frame; without id: all
//	held/drop {id}
//	held/answer {id, result or error}
//	hold {filter, count, limit}      → an empty filter ends the hold
//	inject {dir, frame or text}      → {answer} of a request, when it has come
//	rules/list                       → {rules}
//	rules/add {text} · rules/load {file, text} · rules/remove {name} · rules/enable {name, on}
//
// The server sends the notifications held, gone, hit, ended, and lost. lost has the number of
// notifications that the server dropped because the client was too slow to read them.
//
// Rules hold frames only while a client that attends is connected. It must ping at least
// every ten seconds. If it stops, or its connection ends, its waiting frames are released.
//
// The socket is in a directory that only its owner may enter, and accepts only that user.
// Whoever can connect can answer the agent's permission requests. An agent's tools run as the
// same user, so a proxy must not listen unless it is told to.
package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// Version is the version of the protocol.
const Version = 1

const (
	maxLine  = 32 << 20
	maxConns = 8
	lease    = 10 * time.Second

	// maxShown is the size of the largest frame included in a notification or a list.
	maxShown = 64 << 10

	// maxPath limits the length of a socket's path. macOS allows 103 bytes, Linux 107.
	maxPath = 100
)

// PingEvery is how often an attending client should ping.
const PingEvery = 2 * time.Second

// Path returns the address of the proxy that records a tape in a store. The file there is a
// socket, or contains a socket's path.
func Path(store, tape string) string {
	return journal.Socket(filepath.Join(store, "live"), tape)
}

// A Held is a waiting frame; see rule.Held.
type Held struct {
	ID      uint64          `json:"id"`
	Dir     wire.Direction  `json:"dir"`
	Session string          `json:"session,omitempty"`
	Kind    wire.Kind       `json:"kind"`
	Method  string          `json:"method,omitempty"`
	Update  string          `json:"update,omitempty"`
	Rule    string          `json:"rule,omitempty"`
	Behind  uint64          `json:"behind,omitempty"`
	At      time.Time       `json:"at"`
	Until   time.Time       `json:"until,omitzero"`
	Size    int             `json:"size"`
	Frame   json.RawMessage `json:"frame,omitempty"` // absent, like Text, if the frame is too large
	Text    string          `json:"text,omitempty"`  // instead of Frame if the frame is not JSON
}

// newHeld returns the form of h that is sent. whole includes the frame regardless of its
// size.
func newHeld(h rule.Held, whole bool) Held {
	one := Held{
		ID: h.ID, Dir: h.Dir, Session: h.Session, Kind: h.Kind, Method: h.Method, Update: h.Update, Rule: h.Rule,
		Behind: h.Behind, At: h.At, Until: h.Until, Size: len(h.Raw),
	}
	switch {
	case !whole && len(h.Raw) > maxShown:
	case json.Valid(h.Raw):
		one.Frame = h.Raw
	default:
		one.Text = string(h.Raw)
	}
	return one
}

// A Rule is a rule of the proxy.
type Rule struct {
	Name string `json:"name"`
	Text string `json:"rule"`
	Hits int    `json:"hits"`
	Off  bool   `json:"off,omitempty"`
	Own  bool   `json:"own,omitempty"` // the rule is the hold of the client that asked
}

// A Hello is the server's description of itself.
type Hello struct {
	Version int    `json:"version"`
	Tape    string `json:"tape"`
	PID     int    `json:"pid"`
	Held    []Held `json:"held,omitempty"`
}

// A Notification is sent by the server. Its Kind says which members are set.
type Notification struct {
	Kind string `json:"-"` // held, gone, hit, lost, ended

	Held  *Held  `json:"held,omitempty"`
	ID    uint64 `json:"id,omitempty"`  // gone
	Why   string `json:"why,omitempty"` // gone
	Rule  string `json:"rule,omitempty"`
	Count int    `json:"count,omitempty"` // number of hits, or of lost notifications
}

// params has the parameters of every kind of request.
type params struct {
	Version int             `json:"version,omitempty"`
	Attend  bool            `json:"attend,omitempty"`
	ID      uint64          `json:"id,omitempty"`
	Frame   json.RawMessage `json:"frame,omitempty"`
	Text    string          `json:"text,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
	Filter  string          `json:"filter,omitempty"`
	Count   int             `json:"count,omitempty"`
	Limit   string          `json:"limit,omitempty"`
	Dir     string          `json:"dir,omitempty"` // agent or client
	File    string          `json:"file,omitempty"`
	Name    string          `json:"name,omitempty"`
	On      bool            `json:"on,omitempty"`
}

// A message is a request, a response or a notification.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      *uint64         `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

// A failure is the error of a response.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// encode returns a message as a line. JSON inside it is copied without blanks, otherwise
// unchanged.
func encode(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("control: " + err.Error()) // cannot happen: JSON in messages has been validated
	}
	return []byte(b.String())
}

// raw returns v as JSON for use inside a message.
func raw(v any) json.RawMessage { return bytes.TrimSuffix(encode(v), []byte("\n")) }

// listen creates the socket for path. If path is too long for a socket, the socket is
// elsewhere and path is a file that contains its address. remove deletes what listen created.
func listen(path string) (l *net.UnixListener, remove func(), err error) {
	if err := private(filepath.Dir(path)); err != nil {
		return nil, nil, err
	}
	if conn, err := dial(path); err == nil {
		conn.Close()
		return nil, nil, fmt.Errorf("another proxy listens on %s", path)
	}
	journal.RemoveSocket(path)
	socket := path
	if len(path) > maxPath {
		dir, err := os.MkdirTemp("", journal.SocketDir)
		if err != nil {
			return nil, nil, err
		}
		socket = filepath.Join(dir, "ctl")
		if err := os.WriteFile(path, []byte(socket), 0o600); err != nil {
			return nil, nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	l, err = net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err == nil {
		l.SetUnlinkOnClose(false)
		err = os.Chmod(socket, 0o600)
	}
	if err != nil {
		if l != nil {
			l.Close()
		}
		journal.RemoveSocket(path)
		return nil, nil, err
	}
	return l, func() { journal.RemoveSocket(path) }, nil
}

// dial connects to a proxy's socket.
func dial(path string) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: journal.SocketOf(path), Net: "unix"})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) { // refused: the proxy was killed
		return nil, ErrNobody
	}
	return conn, err
}

// ErrNobody says that no proxy listens.
var ErrNobody = errors.New("nothing listens: acptap proxy does so only with --ctl or --hold")
