package replay

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/internal/lines"
)

// A connectionStart is where a connection begins.
type connectionStart struct {
	tape *record.Tape
	from uint64 // number of its first frame
}

// connectionStarts returns the connections on tapes, in order. It looks for the
// next one only when the caller asks for it.
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

// A connectionChooser finds the connection that the client continues.
type connectionChooser struct {
	agent   *Agent
	settled bool
	early   [][]byte // what has come before it was settled
}

// first returns the player to begin with.
func (choice *connectionChooser) first(report *Report) (*player, error) {
	n := 0
	for b, err := range connectionStarts(choice.agent.Tapes) {
		if err != nil {
			return nil, err
		}
		if n++; n >= choice.agent.Connection {
			p, err := newPlayer(choice.agent, b, report)
			choice.settled = choice.agent.Connection > 0 || err == nil && p.protocol == dialect.MCP // which has no setup to tell by
			return p, err
		}
	}
	return nil, fmt.Errorf("there is no connection %d; the tape has %d", choice.agent.Connection, n)
}

// choose takes the client's next line and returns the player that handles it: that
// of the first connection that has the session which the client sets up first.
func (choice *connectionChooser) choose(p *player, line []byte) *player {
	if choice.settled {
		return p
	}
	m := newArrival(line, lines.Scan(line), 0)
	if kind, _ := dialect.Lookup(dialect.ACP, m.method); m.kind != wire.Request || kind.Effect != dialect.Opens {
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

// try returns a player of another connection if that has what m asks for, else
// nil. The player is where it would be if it had played from the beginning; what
// it would have said until then, the client has heard from another one.
func (choice *connectionChooser) try(p *player, b connectionStart, m *arrival) *player {
	q, err := newPlayer(choice.agent, b, &Report{})
	if err != nil {
		return nil
	}
	q.inbox, q.pace = p.inbox, Pace{}
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

// takeOver continues in place of p, after sending what only its pace held back.
func (q *player) takeOver(p *player) {
	pace := p.pace
	p.pace = Pace{}
	p.advance()
	p.flush()
	p.recording.close()
	p.report.Exit, p.report.Signal = q.report.Exit, q.report.Signal
	q.report, q.out, q.errOut, q.pace = p.report, p.out, p.errOut, pace
}
