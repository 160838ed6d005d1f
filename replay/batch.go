package replay

import (
	"bytes"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/messages"
	"github.com/acptap/acptap/replay/internal/remap"
)

// An array is a batch as the agent sent it. It is sent as one again, once all of
// its entries can leave, if the client has sent the requests that it answers in
// one; else entry by entry.
type array struct {
	seq   uint64
	parts []part
	torn  bool // some entries are of sessions that are not played
}

// A part is one entry of an array, in the lane to which it belongs.
type part struct {
	lane  *lane
	entry int
	reply *cue // of a response: the request
	token bool // it may have to be left out: its progress token is not in use now
}

// array takes a batch of the agent. It reports false if that has no entries, or
// more than are known; it is sent as it is, then.
func (p *player) array(f *dialect.Frame) bool {
	n := 0
	wire.Entries(f.Raw, func(int, []byte) bool { n++; return true })
	if n == 0 || n > len(f.Entries) {
		return false
	}
	a := &array{seq: f.Seq}
	i := -1
	messages.Each(f, func(entry *dialect.Frame, e wire.Envelope) {
		i++
		if !p.script.concerns(f.Seq, &entry.Annotation) {
			a.torn = true
			return
		}
		h := newHeld(entry)
		h.entry, h.array = i, a
		l := p.laneOf(&h, entry, e)
		a.parts = append(a.parts, part{l, h.entry, h.reply, h.token})
		p.hold(l, h, entry.Raw)
	})
	return true
}

// together reports whether the entries leave as one.
func (a *array) together() bool {
	if a.torn {
		return false
	}
	batch := 0
	for _, part := range a.parts {
		if part.lane.dead || part.token {
			return false
		}
		c := part.reply
		if c == nil {
			continue
		}
		if c.array == 0 || batch != 0 && c.array != batch {
			return false
		}
		batch = c.array
	}
	return true
}

// ready reports whether an entry of the array may be sent, as far as the others
// are concerned.
func (a *array) ready(p *player) bool {
	if !a.together() {
		return true
	}
	for _, part := range a.parts {
		if h := a.next(part); h == nil || p.blocked(part.lane, h) {
			return false
		}
	}
	return true
}

// next returns an entry if nothing but entries of the same array stands before it
// in its lane.
func (a *array) next(one part) *held {
	for i := range one.lane.held {
		switch h := &one.lane.held[i]; {
		case h.array != a:
			return nil
		case h.entry == one.entry:
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
		f = &dialect.Frame{}
	}
	var edits []remap.Edit
	at := 0
	for _, part := range a.parts {
		entry := nth(f.Raw, part.entry)
		at += bytes.Index(f.Raw[at:], entry) // only blanks and a comma stand between
		edits = append(edits, remap.Edit{From: at, To: at + len(entry), With: p.today(part.lane, a.next(part), entry)})
		at += len(entry)
	}
	p.out.Write(remap.Apply(f.Raw, edits))
	p.out.WriteString(f.End.Bytes())
	for _, part := range a.parts {
		h := *a.next(part)
		p.kept -= len(h.raw)
		p.pop(part.lane)
		if p.pace.Speed > 0 {
			part.lane.clock.tick(h.at, time.Now())
		}
		p.gone(part.lane, &h)
	}
}
