// Package control lets users change the rules of a running proxy, and decide about the
// frames that it holds, over a Unix socket.
//
// Client and server exchange JSON-RPC 2.0 messages, one a line, at most 32 MiB each. The
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
// The server tells of what happens in notifications: held, gone, hit, ended, and lost with
// the number of notifications that it dropped because the client did not read them.
//
// A client that attends is a user for whom frames wait. It must ping at least every ten
// seconds: if it does not, or if its connection ends, what waits for it goes on.
//
// The socket is in a directory that only its user may enter, and serves only that user.
// Whoever can connect may answer the agent's requests for permissions. Since the tools of
// an agent are programs of the same user, a proxy must not listen unless it is asked to.
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

	// maxShown is the size of the largest frame that a notification or a list contains.
	maxShown = 64 << 10

	// maxPath is the length of the longest path of a socket that we use. macOS takes 103
	// bytes, Linux 107.
	maxPath = 100
)

// PingEvery is how often a client that attends should ping.
const PingEvery = 2 * time.Second

// Path returns where the proxy that records a tape in a store listens. The file is a
// socket, or contains the path of one.
func Path(store, tape string) string {
	return journal.Socket(filepath.Join(store, "live"), tape)
}

// A Held is a frame that waits, as rule.Held.
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
	Frame   json.RawMessage `json:"frame,omitempty"` // neither it nor Text: it is too large for a notification
	Text    string          `json:"text,omitempty"`  // in place of Frame if that is not JSON
}

// newHeld returns a frame as it is sent. whole says that its size does not matter.
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
	Own  bool   `json:"own,omitempty"` // it is the hold of the client that asked
}

// A Hello is what the server says about itself.
type Hello struct {
	Version int    `json:"version"`
	Tape    string `json:"tape"`
	PID     int    `json:"pid"`
	Held    []Held `json:"held,omitempty"`
}

// A Notification is what the server tells of. Its kind says which members are set.
type Notification struct {
	Kind string `json:"-"` // held, gone, hit, lost, ended

	Held  *Held  `json:"held,omitempty"`
	ID    uint64 `json:"id,omitempty"`  // gone
	Why   string `json:"why,omitempty"` // gone
	Rule  string `json:"rule,omitempty"`
	Count int    `json:"count,omitempty"` // of hits; of lost notifications
}

// params are the parameters of all requests.
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

// encode writes a message as a line. Bytes of JSON in it stay as they are but for blanks.
func encode(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("control: " + err.Error()) // cannot happen: all JSON in messages was checked
	}
	return []byte(b.String())
}

// raw returns v as a part of a message.
func raw(v any) json.RawMessage { return bytes.TrimSuffix(encode(v), []byte("\n")) }

// listen creates the socket of a path, which may be too long for one. It returns a
// function that removes what it created.
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

// dial connects to the socket of a proxy.
func dial(path string) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: journal.SocketOf(path), Net: "unix"})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) { // refused: the proxy was killed
		return nil, ErrNobody
	}
	return conn, err
}

// ErrNobody says that no proxy listens.
var ErrNobody = errors.New("nothing listens: acptap proxy does so only with --ctl or --hold")
