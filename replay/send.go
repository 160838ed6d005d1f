package replay

import (
	"bytes"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/remap"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// send writes a frame of the agent with live ids and paths, and applies its effects.
func (p *player) send(l *lane, pf *pendingFrame, raw []byte) {
	if l == p.otherLines {
		p.writeLine(pf, raw)
		return
	}
	if p.pace.Speed > 0 {
		l.clock.tick(pf.at, time.Now())
	}
	if p.tokenless(pf, raw) {
		return
	}
	switch {
	case pf.long:
		p.sendLong(l, pf, raw)
	default:
		p.out.Write(p.rewritten(l, pf, raw))
		p.out.WriteString(pf.end.Bytes())
	}
	p.told(pf.seq, callOf(l, pf))
	p.noteSent(l, pf)
}

// noteSent applies the effects of a frame that was sent.
func (p *player) noteSent(l *lane, pf *pendingFrame) {
	p.report.Sent++
	switch {
	case pf.reply != nil:
		l.open = slices.DeleteFunc(l.open, func(exp *expectedMessage) bool { return exp == pf.reply })
	case pf.request != nil:
		p.sent.Ask(wire.AgentToClient, 0, []byte(pf.request.id), pf.request)
		if p.capabilities.lacks(pf.method) {
			p.report.note("the tape's agent calls %s, which this client has not advertised", pf.method)
		}
	}
	if pf.ends {
		l.turnEnded = pf.seq
	}
}

// rewritten returns a message of the agent with live ids and paths.
func (p *player) rewritten(l *lane, pf *pendingFrame, raw []byte) []byte {
	return p.pathsIn(l, pf).Rewrite(remap.Apply(raw, p.idEdits(pf, raw)))
}

// idEdits returns the edits that put live ids into a message of the agent, in order.
func (p *player) idEdits(pf *pendingFrame, raw []byte) []remap.Edit {
	var edits []remap.Edit
	if pf.reply != nil {
		edits = remap.IDEdit(raw, pf.reply.live)
	}
	edits = append(edits, p.ids.AgentEdits(pf.method, raw)...)
	slices.SortFunc(edits, func(a, b remap.Edit) int { return a.From - b.From })
	return edits
}

// pathsOf returns the mapping of paths for a lane.
func (p *player) pathsOf(l *lane) *remap.PathMap {
	if l.paths != nil {
		return l.paths
	}
	return &p.paths
}

// pathsIn returns the mapping of paths for a frame of the agent. The answer to initialize
// comes before any session is set up, and may name the directory of the process.
func (p *player) pathsIn(l *lane, pf *pendingFrame) *remap.PathMap {
	if pf.reply == nil || !dialect.Does(pf.method, dialect.Initializes) {
		return p.pathsOf(l)
	}
	paths := &remap.PathMap{}
	paths.Learn(p.recordedCwd, p.agent.Cwd)
	return paths
}

// tokenless reports whether a frame reports the progress of a call for which the client
// gave no progress token.
func (p *player) tokenless(pf *pendingFrame, raw []byte) bool {
	if !pf.token {
		return false
	}
	token, _ := dialect.NamedID(pf.method, dialect.ProgressToken, wire.AgentToClient, wire.ScanPrefix(raw).Params)
	live, ok := p.ids.Live(dialect.ProgressToken, string(token))
	return ok && live == nil
}

// sendLong sends a frame that is too long to be read at once. It replaces the id of a
// response anywhere in the frame, and other ids only at the beginning.
func (p *player) sendLong(l *lane, pf *pendingFrame, beginning []byte) {
	edits := p.idEdits(pf, beginning)
	if pf.reply != nil && wire.ScanPrefix(beginning).ID == nil {
		id, at := rpc.LastID(p.recording.tape, pf.seq)
		edits = append(edits, remap.Edit{From: at, To: at + len(id), With: pf.reply.live})
	}
	paths := remap.NewPathWriter(p.out, p.pathsIn(l, pf))
	ids := remap.NewEditWriter(paths, edits)
	if err := p.recording.tape.WriteFrame(ids, pf.seq); err != nil {
		p.report.note("frame %d is sent in part: %v", pf.seq, err)
	}
	paths.Flush()
	p.out.WriteString(pf.end.Bytes())
}

// writeLine writes a line that is not a frame of the protocol.
func (p *player) writeLine(pf *pendingFrame, line []byte) {
	out := p.out
	if pf.dir == wire.AgentStderr {
		out = p.errOut
		p.out.flush() // frames that precede the line on the tape are sent first
		defer out.flush()
	}
	if pf.long {
		if err := p.recording.tape.WriteFrame(out, pf.seq); err != nil {
			p.report.note("line %d is written in part: %v", pf.seq, err)
		}
	} else {
		out.Write(line)
	}
	out.WriteString(pf.end.Bytes())
	if out == p.out {
		p.told(pf.seq, nil)
	}
}

// clientCapabilities are what the live client says it supports.
type clientCapabilities struct {
	initialize []byte          // params of its initialize; nil before that has come
	added      [][]byte        // params of later requests that add capabilities
	checked    map[string]bool // methods for which lacks was called
}

// initialized notes the params of initialize.
func (c *clientCapabilities) initialized(params []byte) {
	c.initialize, c.checked = bytes.Clone(params), make(map[string]bool)
}

// lacks reports whether a method of the agent requires a capability that the client has
// not offered. It returns true only once per method.
func (c *clientCapabilities) lacks(method string) bool {
	if c.initialize == nil || c.checked[method] {
		return false
	}
	c.checked[method] = true
	return !slices.ContainsFunc(append(c.added, c.initialize), func(said []byte) bool {
		return dialect.Allowed(dialect.Unknown, dialect.ClientSide, method, said)
	})
}
