package probe

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/script"
)

// A stage is the environment of one case: a process of the peer, a directory for its sessions,
// and a tape.
type stage struct {
	peer      *peer
	recording *recording
	dir       string
	servers   *servers
	speaker   Speaker // nil: no model
	ended     bool
}

// markName is the environment variable that marks the processes of a stage.
const markName = "ACPTAP_PROBE_CASE"

// newStage starts the peer for steps.
func (r *Runner) newStage(id, name string, steps *script.Script) (*stage, error) {
	dir, err := os.MkdirTemp(r.dir, strings.ReplaceAll(id, "/", "-")+"-")
	if err != nil {
		return nil, err
	}
	mark := filepath.Base(r.dir) + "/" + filepath.Base(dir)
	s := &stage{dir: dir, servers: &servers{command: r.EchoServer, dir: dir, mark: mark}}
	proto := dialect.ACP
	if r.Kind == Server {
		proto = dialect.MCP
	}
	work, err := os.Getwd() // the command may contain relative paths
	if err != nil {
		return nil, err
	}
	env := r.Env
	if r.Model != nil {
		if s.speaker, err = r.Model.Start(); err != nil {
			return nil, err
		}
		env = append(s.speaker.Env(), env...) // the user's variables win
		s.servers.speaker, s.servers.turns = s.speaker, turnsOf(steps, dir)
	}
	s.recording, err = newRecording(r.Store, record.Start{
		Time: time.Now(), Command: r.Command, Cwd: work, Name: name, Version: cmp.Or(r.Version, "probe"), Proto: proto.String(), PID: os.Getpid(),
	})
	if err != nil {
		if s.speaker != nil {
			_ = s.speaker.Close() // no process uses it
		}
		return nil, err
	}
	p := proxy.Proxy{Command: r.Command, Env: env, Err: nowhere{}, Journal: s.recording.journal, Patience: cmp.Or(r.Grace, grace)}
	if r.Peer != nil {
		p.Peer = r.Peer()
	}
	if r.Peer != nil && !slices.ContainsFunc(steps.Steps, func(s script.Step) bool { return s.Verb == script.Servers }) {
		mark = "" // there are no processes
	}
	s.peer = startPeer(context.Background(), p, mark)
	return s, nil
}

// nowhere discards the peer's stderr, which the tape already holds.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// player returns a Player for the client's side.
func (s *stage) player(r *Runner, steps *script.Script, d dialect.Dialect, m *meeting) *script.Player {
	s.servers.typed = d == dialect.ACPv2 || d == dialect.ACPv2Early
	captures := script.Captures{"cwd": s.dir, "servers": []any{}, "revision": cmp.Or(r.Revision, "2025-11-25"), "login": r.Login}
	if r.Call != nil {
		captures["call"] = r.Call
	}
	if m != nil {
		for name, value := range m.captures {
			captures[name] = value
		}
		captures["cwd"] = s.dir
	}
	return &script.Player{
		Script: steps, Dialect: d, Side: wire.ClientToAgent, Patience: r.patience(m), Captures: captures,
		Out: s.peer.input, In: s.peer.lines, Process: s.peer, Setting: s.servers,
	}
}

// patience returns the time limit for an answer. m is nil during the first contact.
func (r *Runner) patience(m *meeting) time.Duration {
	if m == nil {
		return cmp.Or(r.Start, time.Minute)
	}
	return cmp.Or(r.Patience, min(max(20*m.first, 10*time.Second), time.Minute))
}

// end stops the peer and returns the tape.
func (s *stage) end() (*record.Tape, error) {
	s.ended = true
	s.peer.end()
	return s.recording.tape()
}

// close releases the resources of the stage.
func (s *stage) close() {
	if !s.ended {
		s.peer.end()
		_, _ = s.recording.tape()
	}
	s.servers.close()
	if s.speaker != nil {
		_ = s.speaker.Close() // the case is over
	}
	os.RemoveAll(s.dir)
}
