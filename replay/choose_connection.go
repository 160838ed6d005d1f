package replay

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A connectionStart is the beginning of a connection on a tape.
type connectionStart struct {
	tape *record.Tape
	from uint64 // number of its first frame
}

// connectionStarts returns the connections on tapes, in order. It reads the tapes only as
// far as the caller asks.
func connectionStarts(tapes []*record.Tape) iter.Seq2[connectionStart, error] {
	return func(yield func(connectionStart, error) bool) {
		for _, t := range tapes {
			if !yield(connectionStart{t, 1}, nil) {
				return
			}
			info, err := t.Info()
			if err != nil {
				yield(connectionStart{}, err)
				return
			}
			connections := dialect.Connections{Protocol: info.Connection.Protocol}
			for f, err := range t.Rows(1) {
				if err != nil {
					yield(connectionStart{}, err)
					return
				}
				if !connections.StartsNext(&f) {
					continue
				}
				if !yield(connectionStart{t, f.Seq}, nil) {
					return
				}
			}
		}
	}
}

// A connectionChooser finds the recorded connection to play to the client.
type connectionChooser struct {
	agent   *Agent
	settled bool     // a connection has been chosen
	early   [][]byte // the client's lines before the choice
}

// first returns the initial player: the one for Agent.Connection, or for the first
// connection.
func (choice *connectionChooser) first(report *Report) (*player, error) {
	n := 0
	for b, err := range connectionStarts(choice.agent.Tapes) {
		if err != nil {
			return nil, err
		}
		if n++; n >= choice.agent.Connection {
			p, err := newPlayer(choice.agent, b, report)
			choice.settled = choice.agent.Connection > 0 || err == nil && p.protocol == dialect.MCP // which has no session setup to choose by
			return p, err
		}
	}
	return nil, fmt.Errorf("there is no connection %d; the tape has %d", choice.agent.Connection, n)
}

// choose returns the player that handles the client's next line. When the client first sets
// up a session, choose settles on p if its connection has that session, otherwise on the
// first connection that has it, otherwise on p.
func (choice *connectionChooser) choose(p *player, line []byte) *player {
	if choice.settled {
		return p
	}
	m := newArrival(line, rpc.Scan(line), 0)
	if kind, _ := dialect.Lookup(dialect.ACP, m.method); m.kind != wire.Request || !kind.Role.Is(dialect.Opens) {
		choice.early = append(choice.early, line)
		return p
	}
	choice.settled = true
	if found, _, _ := p.find(m); found != nil {
		return p
	}
	for b, err := range connectionStarts(choice.agent.Tapes) {
		if err != nil {
			break
		}
		if b.tape == p.recording.tape && b.from == p.recording.from {
			continue
		}
		if q := choice.try(p, b, m); q != nil {
			q.takeOver(p)
			return q
		}
	}
	return p
}

// try returns a player of another connection if that connection has what m asks for,
// otherwise nil. That player handles everything before m, and try drops the output: the
// client has received the same from p.
func (choice *connectionChooser) try(p *player, b connectionStart, m *arrival) *player {
	q, err := newPlayer(choice.agent, b, &Report{})
	if err != nil {
		return nil
	}
	q.inbox, q.pace, q.watcher, q.passed = p.inbox, Pace{}, nil, nil
	q.out, q.errOut = newOutbox(io.Discard, p.inbox), newOutbox(io.Discard, p.inbox)
	q.advance()
	for _, line := range choice.early {
		q.handle(bytes.Clone(line))
		q.advance()
	}
	q.flush()
	found, _, _ := q.find(m)
	if found == nil || len(q.report.Misses) > len(p.report.Misses) {
		q.recording.close()
		return nil
	}
	return q
}

// takeOver makes q replace p, once p has sent what only pacing held back.
func (q *player) takeOver(p *player) {
	pace := p.pace
	p.pace = Pace{}
	p.advance()
	p.flush()
	p.recording.close()
	p.report.Exit, p.report.Signal = q.report.Exit, q.report.Signal
	q.report, q.out, q.errOut, q.pace, q.watcher, q.passed = p.report, p.out, p.errOut, pace, p.watcher, p.passed
}
