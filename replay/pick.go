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

// A beginning is where a connection begins.
type beginning struct {
	tape *record.Tape
	from uint64 // number of its first frame
}

// beginnings returns the connections of tapes, in order. Where a second one
// begins is looked for only if it is asked for.
func beginnings(tapes []*record.Tape) iter.Seq2[beginning, error] {
	return func(yield func(beginning, error) bool) {
		for _, t := range tapes {
			if !yield(beginning{t, 1}, nil) {
				return
			}
			info, err := t.Info()
			if err != nil {
				yield(beginning{}, err)
				return
			}
			connections := dialect.Connections{Protocol: info.Connection.Protocol}
			for f, err := range t.Rows(1) {
				if err != nil {
					yield(beginning{}, err)
					return
				}
				if !connections.StartsNext(&f) {
					continue
				}
				if !yield(beginning{t, f.Seq}, nil) {
					return
				}
			}
		}
	}
}

// A casting finds the connection that the client wants.
type casting struct {
	agent   *Agent
	settled bool
	early   [][]byte // what has come before it was settled
}

// first returns the player to begin with.
func (k *casting) first(report *Report) (*player, error) {
	n := 0
	for b, err := range beginnings(k.agent.Tapes) {
		if err != nil {
			return nil, err
		}
		if n++; n >= k.agent.Connection {
			p, err := newPlayer(k.agent, b, report)
			k.settled = k.agent.Connection > 0 || err == nil && p.protocol == dialect.MCP // which has no setup to tell by
			return p, err
		}
	}
	return nil, fmt.Errorf("there is no connection %d; the tape has %d", k.agent.Connection, n)
}

// pick takes the client's next line and returns the player to handle it: the
// first that has the session that the client sets up first.
func (k *casting) pick(p *player, line []byte) *player {
	if k.settled {
		return p
	}
	m := newArrival(line, lines.Scan(line), 0)
	if kind, _ := dialect.Lookup(dialect.ACP, m.method); m.kind != wire.Request || kind.Effect != dialect.Opens {
		k.early = append(k.early, line)
		return p
	}
	k.settled = true
	if found, _, _ := p.find(m); found != nil {
		return p
	}
	for b, err := range beginnings(k.agent.Tapes) {
		if err != nil {
			break
		}
		if b.tape == p.script.tape && b.from == p.script.from {
			continue
		}
		if q := k.audition(p, b, m); q != nil {
			q.takeOver(p)
			return q
		}
	}
	return p
}

// audition returns a player of another connection, as it were if it had played
// from the beginning, if it has what m asks for. What it has said until then, the
// client has heard of another one, so it takes no time.
func (k *casting) audition(p *player, b beginning, m *arrival) *player {
	q, err := newPlayer(k.agent, b, &Report{})
	if err != nil {
		return nil
	}
	q.inbox, q.pace = p.inbox, Pace{}
	q.out, q.errOut = newOutbox(io.Discard, p.inbox), newOutbox(io.Discard, p.inbox)
	q.advance()
	for _, line := range k.early {
		q.handle(bytes.Clone(line))
		q.advance()
	}
	q.flush()
	found, _, _ := q.find(m)
	if found == nil || len(q.report.Misses) > len(p.report.Misses) {
		q.script.close()
		return nil
	}
	return q
}

// takeOver goes on in place of p. What only its pace held back there is sent.
func (q *player) takeOver(p *player) {
	pace := p.pace
	p.pace = Pace{}
	p.advance()
	p.flush()
	p.script.close()
	p.report.Exit, p.report.Signal = q.report.Exit, q.report.Signal
	q.report, q.out, q.errOut, q.pace = p.report, p.out, p.errOut, pace
}
