package replay

import (
	"bytes"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/remap"
)

// An agentBatch is a batch of the recorded agent. If the live client sent the requests it
// answers as one batch, it is sent as a batch once all of its entries are ready.
// Otherwise its entries are sent one by one.
type agentBatch struct {
	seq     uint64
	parts   []part
	partial bool // some entries are of sessions that are not played
}

// A part is one entry of a batch and the lane that it belongs to.
type part struct {
	lane  *lane
	entry int
	reply *expectedMessage // of a response: the request
	token bool             // it has a progress token; it is omitted if the client gave none
}

// readBatch puts the entries of a batch of the agent into their lanes. It returns false
// if the batch is empty or has more entries than the tape has annotations; the batch is
// then sent unchanged.
func (p *player) readBatch(f *dialect.Frame) bool {
	n := 0
	wire.Entries(f.Raw, func(int, []byte) bool { n++; return true })
	if n == 0 || n > len(f.Entries) {
		return false
	}
	a := &agentBatch{seq: f.Seq}
	i := -1
	for entry, e := range f.Messages {
		i++
		if !p.recording.chosen.Has(f.Seq, &entry.Annotation) {
			a.partial = true
			continue
		}
		pf := newPendingFrame(entry)
		pf.entry, pf.batch = i, a
		l := p.laneOf(&pf, entry, e)
		a.parts = append(a.parts, part{l, pf.entry, pf.reply, pf.token})
		p.enqueue(l, pf, entry.Raw)
	}
	return true
}

// together reports whether the entries are sent as a batch.
func (a *agentBatch) together() bool {
	if a.partial {
		return false
	}
	batch := 0
	for _, part := range a.parts {
		if part.lane.dead || part.token {
			return false
		}
		exp := part.reply
		if exp == nil {
			continue
		}
		if exp.batch == 0 || batch != 0 && exp.batch != batch {
			return false
		}
		batch = exp.batch
	}
	return true
}

// ready reports whether the rest of the batch allows one of its entries to be sent.
func (a *agentBatch) ready(p *player) bool {
	if !a.together() {
		return true
	}
	for _, part := range a.parts {
		if pf := a.pendingEntry(part); pf == nil || p.blocked(part.lane, pf) {
			return false
		}
	}
	return true
}

// pendingEntry returns an entry if only entries of the same batch precede it in its lane,
// otherwise nil.
func (a *agentBatch) pendingEntry(one part) *pendingFrame {
	for i := range one.lane.pending {
		switch pf := &one.lane.pending[i]; {
		case pf.batch != a:
			return nil
		case pf.entry == one.entry:
			return pf
		}
	}
	return nil
}

// call returns the client's id of the first request that the batch answers, nil if it
// answers none.
func (a *agentBatch) call() []byte {
	for _, part := range a.parts {
		if part.reply != nil {
			return part.reply.live
		}
	}
	return nil
}

// sendBatch sends all entries as one batch.
func (p *player) sendBatch(a *agentBatch) {
	f, err := p.recording.readAgain(a.seq)
	if err != nil {
		p.report.note("frame %d cannot be sent: %v", a.seq, err)
		f = &dialect.Frame{}
	}
	var edits []remap.Edit
	at := 0
	for _, part := range a.parts {
		entry := nth(f.Raw, part.entry)
		at += bytes.Index(f.Raw[at:], entry) // only blanks and a comma separate entries
		edits = append(edits, remap.Edit{From: at, To: at + len(entry), With: p.rewritten(part.lane, a.pendingEntry(part), entry)})
		at += len(entry)
	}
	p.out.Write(remap.Apply(f.Raw, edits))
	p.out.WriteString(f.End.Bytes())
	p.told(a.seq, a.call())
	for _, part := range a.parts {
		pf := *a.pendingEntry(part)
		p.kept -= len(pf.raw)
		p.pop(part.lane)
		if p.pace.Speed > 0 {
			part.lane.clock.tick(pf.at, time.Now())
		}
		p.noteSent(part.lane, &pf)
	}
}
