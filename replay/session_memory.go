package replay

import (
	"bytes"
	"errors"
	"os"
	"slices"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// A sessionMemory is a store for one run of a live agent, in a temporary directory. From
// it, a shim between player and agent serves the sessions of the tape that continue live.
// The store also holds the ids of all other sessions of the tape, so that the shim gives
// none of them to a new session.
type sessionMemory struct {
	store    *record.Store
	start    record.Start
	shim     *shim.Shim
	recorder *record.Recorder // of the live agent
	closed   bool
}

func newSessionMemory(p *player) (_ *sessionMemory, err error) {
	dir, err := os.MkdirTemp("", "acptap-live-")
	if err != nil {
		return nil, err
	}
	m := &sessionMemory{
		store: record.OpenStore(dir),
		start: record.Start{Command: p.agent.Live, Cwd: p.agent.Cwd, Proto: "acp"},
	}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if err := m.reserveIDs(p); err != nil {
		return nil, err
	}
	if m.recorder, err = m.store.Record(m.start); err != nil {
		return nil, err
	}
	m.shim = &shim.Shim{Store: m.store, Agent: record.Info{Start: m.start}.Agent(), Tape: m.recorder.Tape(), Adopt: true}
	return m, nil
}

// prepare is Prepare of the agent's proxy.
func (m *sessionMemory) prepare() (proxy.Journal, []proxy.Interceptor) {
	return m.recorder, []proxy.Interceptor{m.shim}
}

// close removes the store. The agent must have ended. close may be called twice.
func (m *sessionMemory) close() {
	if m.closed {
		return
	}
	m.closed = true
	if m.shim != nil {
		m.shim.Close()
	}
	if m.recorder != nil {
		m.recorder.Close()
		m.recorder.Wait()
	}
	os.RemoveAll(m.store.Dir())
}

// reserveIDs writes a tape that creates all sessions of the played tape.
func (m *sessionMemory) reserveIDs(p *player) error {
	return m.tape(func(say func(dir wire.Direction, line []byte)) error {
		id := []byte("0")
		for session := range p.known {
			result := wire.Set([]byte(`{}`), wire.Quote(session), "sessionId")
			say(wire.ClientToAgent, wire.NewRequest(id, dialect.NewSession, []byte(`{"cwd":"/","mcpServers":[]}`)))
			say(wire.AgentToClient, wire.NewResult(id, result))
		}
		return nil
	})
}

// remember makes tapes of what was said in a session: on the tapes preceding the one
// being played, and on that one before frame end, or to its end if end is 0. Paths are
// the client's.
func (m *sessionMemory) remember(p *player, l *lane, end uint64) error {
	for _, t := range p.agent.Tapes {
		if t == p.recording.tape {
			break
		}
		start, err := connectionOf(t, l.session)
		if err == nil && start.tape != nil {
			err = m.copy(p, l, start, 0)
		}
		if err != nil {
			return err
		}
	}
	return m.copy(p, l, connectionStart{p.recording.tape, p.recording.from}, end)
}

// connectionOf returns the connection of a tape that has a session, or the zero value.
func connectionOf(t *record.Tape, session string) (found connectionStart, err error) {
	sessions, err := t.Sessions()
	i := slices.IndexFunc(sessions, func(one record.SessionInfo) bool { return one.ID == session })
	if err != nil || i < 0 {
		return found, err
	}
	for start, err := range connectionStarts([]*record.Tape{t}) {
		if err != nil || start.from > sessions[i].Runs[0].First {
			return found, err
		}
		found = start
	}
	return found, nil
}

// copy makes a tape of the frames of a session in one connection.
func (m *sessionMemory) copy(p *player, l *lane, start connectionStart, end uint64) error {
	sessions, err := start.tape.Sessions()
	if err != nil {
		return err
	}
	r := newConnectionReader(start, l.session, p.protocol, sessions)
	defer r.close()
	return m.tape(func(say func(dir wire.Direction, line []byte)) error {
		for {
			f, err := r.next()
			switch {
			case err != nil:
				return err
			case f == nil, end > 0 && f.Seq >= end:
				return nil
			case f.Dir == wire.AgentStderr, f.Kind == wire.Mark:
				continue
			}
			var line bytes.Buffer
			if err := start.tape.WriteFrame(&line, f.Seq); err != nil {
				return err
			}
			say(f.Dir, p.pathsOf(l).Rewrite(line.Bytes()))
		}
	})
}

// tape makes a tape of the lines that fill passes to say.
func (m *sessionMemory) tape(fill func(say func(dir wire.Direction, line []byte)) error) error {
	j, err := m.store.Record(m.start)
	if err != nil {
		return err
	}
	var failed error
	err = fill(func(dir wire.Direction, line []byte) {
		failed = errors.Join(failed, j.Append(dir, wire.Wire, append(bytes.Clone(line), '\n')))
	})
	err = errors.Join(err, failed, j.Close())
	j.Wait()
	return err
}
