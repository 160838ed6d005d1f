package drive

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// advance makes all moves that are ready, in the order of the tape.
func (d *driver) advance() {
	for d.failed == nil {
		d.giveReplies()
		var next *thread
		for _, t := range d.plan.threads {
			if len(t.moves) > 0 && (next == nil || t.moves[0].seq < next.moves[0].seq) && d.ready(t, t.moves[0]) {
				next = t
			}
		}
		if next == nil {
			return
		}
		m := next.moves[0]
		next.moves = next.moves[1:]
		d.move(next, m)
	}
}

// ready reports whether a move can be made now.
func (d *driver) ready(t *thread, m *move) bool {
	if !d.plan.ready(t, m) {
		return false
	}
	if m.tellsOf != nil && !m.tellsOf.used {
		return m.tellsOf.passed()
	}
	now := d.session(t.session).progress
	return m.checkpoint.kind == noTurn || !now.open || now.reached(m.checkpoint) || d.owes(t, m)
}

// owes reports whether the agent waits for an answer that the recorded client gave only
// after a move. The driver then makes the move even if its checkpoint has not been
// reached.
func (d *driver) owes(t *thread, m *move) bool {
	return slices.ContainsFunc(d.replies, func(r delayedReply) bool { return r.thread == t && r.after >= m.seq })
}

// giveReplies sends the replies that no longer wait for a move of their thread.
func (d *driver) giveReplies() {
	d.replies = slices.DeleteFunc(d.replies, func(r delayedReply) bool {
		if len(r.thread.moves) > 0 && r.thread.moves[0].seq <= r.after {
			return false
		}
		d.send(r.message)
		return true
	})
}

// move makes one move or skips it.
func (d *driver) move(t *thread, m *move) {
	if m.checkpoint.kind != noTurn && !dialect.Does(m.method, dialect.Prompts) {
		if now := d.session(t.session).progress; !now.open {
			d.skip(m, "too late: the turn is over")
			return
		}
	}
	if id, by := dialect.NamedID(m.method, dialect.RequestID, wire.ClientToAgent, m.params); id != nil && by == wire.ClientToAgent && d.calls.Find(by, 0, id) == nil {
		d.skip(m, "too late: the answer has come")
		return
	}
	if m.tellsOf != nil && !m.tellsOf.used {
		d.skip(m, "the agent has not asked for that")
		return
	}
	if cwd := wire.ValueAt(m.params, "cwd"); dialect.RoleOf(dialect.ACP, m.method).Is(dialect.Opens) && cwd.IsString() {
		d.known.MoveIn(cwd.Text())
	}
	messages := make([][]byte, len(m.messages))
	for i, raw := range m.messages {
		method := string(rpc.Scan(raw).Method)
		message, unmade := d.known.Rewrite(method, raw)
		if unmade != "" && !m.fails() && d.plan.conn.Protocol != dialect.MCP { // MCP sessions outlive a connection
			d.skip(m, "nobody has made session "+unmade)
			return
		}
		message, none := m.offers.translate(method, message, d.session(m.session).offers)
		if none != "" {
			d.skip(m, "the agent has nothing like "+none)
			return
		}
		messages[i] = message
		if rpc.LacksSecret(message) {
			d.report.note("%s was sent as it is on the tape (frame %d): without its secrets", method, m.seq)
		}
	}
	for _, c := range m.calls {
		d.calls.Ask(wire.ClientToAgent, 0, []byte(c.id), c)
	}
	if m.batch {
		d.send(slices.Concat([]byte("["), bytes.Join(messages, []byte(",")), []byte("]")))
		return
	}
	d.send(messages[0])
}

// fails reports whether the recorded agent refused a move.
func (m *move) fails() bool {
	return len(m.calls) > 0 && !slices.ContainsFunc(m.calls, func(c *plannedCall) bool { return !c.failed })
}

// skip omits a move and stops waiting for the answers to it.
func (d *driver) skip(m *move, why string) {
	d.report.note("%s not sent (frame %d): %s", m.method, m.seq, why)
	for _, c := range m.calls {
		c.over(true)
	}
}

// over notes that the call needs no more answer. early means that it was refused or never
// made, so its turn has ended too.
func (c *plannedCall) over(early bool) {
	if c.answer != nil {
		c.answer.come = true
	}
	if c.turn != nil && early {
		c.turn.come = true
	}
}
