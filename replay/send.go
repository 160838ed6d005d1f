package replay

import (
	"io"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
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
	return p.rootsOf(l).rewrite(apply(raw, p.idEdits(h, raw)))
}

// idEdits returns the edits that give a message of the agent the ids of now, in
// order.
func (p *player) idEdits(h *held, raw []byte) []edit {
	var edits []edit
	if h.reply != nil {
		edits = idEdit(raw, h.reply.live)
	}
	if len(p.ids.moved) > 0 {
		edits = append(edits, p.ids.today(h.method, raw)...)
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	return edits
}

// rootsOf returns how paths in a lane are mapped.
func (p *player) rootsOf(l *lane) *roots {
	if l.roots != nil {
		return l.roots
	}
	return &p.roots
}

// tokenless reports whether a frame tells of the progress of a call whose client
// does not want to be told.
func (p *player) tokenless(h *held, raw []byte) bool {
	if !h.token {
		return false
	}
	token, _ := dialect.Named(h.method, dialect.ProgressToken, wire.AgentToClient, wire.ScanPrefix(raw).Params)
	live, ok := p.ids.live(dialect.ProgressToken, string(token))
	return ok && live == nil
}

// sendLong sends a frame of which the tape gives only the beginning at once. Ids
// other than its own are looked for there only.
func (p *player) sendLong(l *lane, h *held, beginning []byte) {
	edits := p.idEdits(h, beginning)
	if h.reply != nil && wire.ScanPrefix(beginning).ID == nil {
		id, at := lastID(p.script.tape, h.seq)
		edits = append(edits, edit{at, at + len(id), h.reply.live})
	}
	paths := &rewriter{w: p.out, roots: p.rootsOf(l)}
	ids := &splice{w: paths, edits: edits}
	if err := p.script.tape.WriteFrame(ids, h.seq); err != nil {
		p.report.note("frame %d is sent in part: %v", h.seq, err)
	}
	paths.flush()
	p.out.WriteString(h.end.Bytes())
}

// A splice is a writer that makes edits on the way.
type splice struct {
	w     io.Writer
	edits []edit // in order
	at    int
}

func (s *splice) Write(b []byte) (int, error) {
	n := len(b)
	for len(s.edits) > 0 && len(b) > 0 {
		e := s.edits[0]
		if s.at+len(b) <= e.from {
			break
		}
		if s.at < e.from {
			s.w.Write(b[:e.from-s.at])
			b, s.at = b[e.from-s.at:], e.from
		}
		skip := min(len(b), e.to-s.at)
		b, s.at = b[skip:], s.at+skip
		if s.at == e.to {
			s.w.Write(e.with)
			s.edits = s.edits[1:]
		}
	}
	s.w.Write(b)
	s.at += len(b)
	return n, nil
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

// advertised notes what the client says to take, as params of initialize and the
// like have it.
func (p *player) advertised(params []byte) {
	for _, c := range dialect.Capabilities(dialect.Unknown) {
		if c.Side == dialect.ClientSide && c.Offered(dialect.Unknown, params) {
			for _, method := range c.Allows {
				p.takes[method] = true
			}
		}
	}
}

// unadvertised notes a request of the agent that this client has not said to
// take.
func (p *player) unadvertised(method string) {
	required := slices.ContainsFunc(dialect.Requires(dialect.Unknown, method), func(c dialect.Capability) bool {
		return c.Side == dialect.ClientSide && c.Form != dialect.AtSetup
	})
	_, known := p.takes[method]
	if !required || known || p.offered == nil {
		return
	}
	p.takes[method] = false
	p.report.note("the tape's agent calls %s, which this client has not advertised", method)
}
