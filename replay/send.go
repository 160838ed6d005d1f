package replay

import (
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/messages"
	"github.com/acptap/acptap/replay/internal/remap"
)

// send writes a frame of the agent with the ids and paths of now, and notes what
// it begins and ends.
func (p *player) send(l *lane, h *held, raw []byte) {
	if l == p.aside {
		p.say(h, raw)
		return
	}
	if p.pace.Speed > 0 {
		l.clock.tick(h.at, time.Now())
	}
	if p.tokenless(h, raw) {
		return
	}
	switch {
	case h.long:
		p.sendLong(l, h, raw)
	default:
		p.out.Write(p.today(l, h, raw))
		p.out.WriteString(h.end.Bytes())
	}
	p.gone(l, h)
}

// gone notes that a frame has been sent.
func (p *player) gone(l *lane, h *held) {
	p.report.Sent++
	switch {
	case h.reply != nil:
		l.open = slices.DeleteFunc(l.open, func(c *cue) bool { return c == h.reply })
	case h.ask != nil:
		p.sent[h.ask.id] = h.ask
		p.unadvertised(h.method)
	}
	if h.ends {
		l.rested = h.seq
	}
}

// today returns a message of the agent with the ids and paths of now.
func (p *player) today(l *lane, h *held, raw []byte) []byte {
	return p.pathsOf(l).Rewrite(remap.Apply(raw, p.idEdits(h, raw)))
}

// idEdits returns the edits that give a message of the agent the ids of now, in
// order.
func (p *player) idEdits(h *held, raw []byte) []remap.Edit {
	var edits []remap.Edit
	if h.reply != nil {
		edits = remap.IDEdit(raw, h.reply.live)
	}
	edits = append(edits, p.ids.AgentEdits(h.method, raw)...)
	slices.SortFunc(edits, func(a, b remap.Edit) int { return a.From - b.From })
	return edits
}

// pathsOf returns how paths in a lane are mapped.
func (p *player) pathsOf(l *lane) *remap.PathMap {
	if l.paths != nil {
		return l.paths
	}
	return &p.paths
}

// tokenless reports whether a frame tells of the progress of a call whose client
// does not want to be told.
func (p *player) tokenless(h *held, raw []byte) bool {
	if !h.token {
		return false
	}
	token, _ := dialect.NamedID(h.method, dialect.ProgressToken, wire.AgentToClient, wire.ScanPrefix(raw).Params)
	live, ok := p.ids.Live(dialect.ProgressToken, string(token))
	return ok && live == nil
}

// sendLong sends a frame of which the tape gives only the beginning at once. Ids
// other than its own are looked for there only.
func (p *player) sendLong(l *lane, h *held, beginning []byte) {
	edits := p.idEdits(h, beginning)
	if h.reply != nil && wire.ScanPrefix(beginning).ID == nil {
		id, at := messages.LastID(p.script.tape, h.seq)
		edits = append(edits, remap.Edit{From: at, To: at + len(id), With: h.reply.live})
	}
	paths := remap.NewPathWriter(p.out, p.pathsOf(l))
	ids := remap.NewEditWriter(paths, edits)
	if err := p.script.tape.WriteFrame(ids, h.seq); err != nil {
		p.report.note("frame %d is sent in part: %v", h.seq, err)
	}
	paths.Flush()
	p.out.WriteString(h.end.Bytes())
}

// say writes a line that is no frame of the protocol.
func (p *player) say(h *held, line []byte) {
	out := p.out
	if h.dir == wire.AgentStderr {
		out = p.errOut
		p.out.flush() // what stands before it on the tape comes before it
		defer out.flush()
	}
	if h.long {
		if err := p.script.tape.WriteFrame(out, h.seq); err != nil {
			p.report.note("line %d is written in part: %v", h.seq, err)
		}
	} else {
		out.Write(line)
	}
	out.WriteString(h.end.Bytes())
}
