package replay

import (
	"bytes"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// An array is a batch of answers as the agent sent it. It is sent as one again
// if the client has sent the requests in one, else answer by answer.
type array struct {
	seq     uint64
	replies []*cue
}

// array takes a batch of the agent. It reports false if that is something else
// than answers to known requests, which then is sent as it is.
func (p *player) array(f *dialect.Frame) bool {
	var entries [][]byte
	known := true
	wire.Entries(f.Raw, func(_ int, entry []byte) bool {
		e := wire.Scan(entry)
		known = known && e.Kind == wire.Response && p.calls[string(e.ID)] != nil
		entries = append(entries, entry)
		return true
	})
	if !known || len(entries) == 0 {
		return false
	}
	a := &array{seq: f.Seq}
	for i, entry := range entries {
		e := wire.Scan(entry)
		c := p.calls[string(e.ID)]
		if c == nil {
			continue // answered twice in one batch
		}
		h := held{seq: f.Seq, pos: f.Seq, at: f.At, end: f.End, entry: i, array: a, method: c.method}
		l := p.responseLane(&h, e)
		if i < len(f.Entries) {
			h.ends = f.Entries[i].Events.Has(dialect.TurnEnded)
		}
		a.replies = append(a.replies, c)
		p.hold(l, h, entry)
	}
	return true
}

// together reports whether the requests came in one batch.
func (a *array) together() bool {
	for _, c := range a.replies {
		if c.array == 0 || c.array != a.replies[0].array || c.lane.dead {
			return false
		}
	}
	return true
}

// ready reports whether an answer of the array may be sent, as far as the others
// are concerned.
func (a *array) ready(p *player) bool {
	if !a.together() {
		return true
	}
	for _, c := range a.replies {
		if h := a.next(c.lane, c); h == nil || p.blocked(c.lane, h) {
			return false
		}
	}
	return true
}

// next returns the answer to c if nothing but answers of the same array stands
// before it in its lane.
func (a *array) next(l *lane, c *cue) *held {
	for i := range l.held {
		switch h := &l.held[i]; {
		case h.array != a:
			return nil
		case h.reply == c:
			return h
		}
	}
	return nil
}

// sendArray sends an array as one.
func (p *player) sendArray(a *array) {
	f, err := p.script.again(a.seq)
	if err != nil {
		p.report.note("frame %d cannot be sent: %v", a.seq, err)
	}
	var edits []edit
	at := 0
	for _, c := range a.replies {
		h := a.next(c.lane, c)
		entry := nth(f.Raw, h.entry)
		at += bytes.Index(f.Raw[at:], entry) // only blanks and a comma stand between
		edits = append(edits, edit{at, at + len(entry), p.today(c.lane, h, entry)})
		at += len(entry)
	}
	p.out.Write(apply(f.Raw, edits))
	p.out.Write([]byte(f.End.Bytes()))
	for _, c := range a.replies {
		h := *a.next(c.lane, c)
		p.kept -= len(h.raw)
		c.lane.pop()
		if p.pace.Speed > 0 {
			c.lane.clock.tick(h.at, time.Now())
		}
		p.gone(c.lane, &h)
		p.leave(h.trail)
	}
}
