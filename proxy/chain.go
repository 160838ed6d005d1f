package proxy

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// maxTurns limits how often Interceptors may answer one another's answers. Past this limit
// answers skip the rest of the chain, so two Interceptors cannot answer each other forever.
const maxTurns = 100

// A passage is the path of one frame through the chain, or of what an Interceptor sends
// unprompted.
type passage struct {
	*pipeline
	out    []wire.Frame // what leaves the chain at either end
	passed int          // index in out of the original frame; -1 if it is not there
}

// pass shows a frame to the chain and sends on what comes out.
func (p *pipeline) pass(f wire.Frame) {
	v := p.enter()
	from := -1
	if f.Dir == wire.AgentToClient {
		from = len(p.stages)
	}
	v.follow(from, f, true, 0)
	if v.passed < 0 {
		f.Origin = wire.Withheld
		at := slices.IndexFunc(v.out, func(g wire.Frame) bool { return g.Kind != wire.Mark })
		if at < 0 {
			at = len(v.out)
		}
		v.out = slices.Insert(v.out, at, f) // after the notes about it
	}
	p.leave(v)
}

// send sends what an Interceptor sends unprompted.
func (p *pipeline) send(s *stage, out []wire.Frame) {
	v := p.enter()
	v.spread(s, out, -1, false, 0)
	p.leave(v)
}

func (p *pipeline) enter() *passage {
	v := &passage{pipeline: p, out: p.out, passed: -1}
	p.out = nil
	return v
}

// leave puts what came out of the chain into the queues.
func (p *pipeline) leave(v *passage) {
	for _, f := range v.out {
		p.put(f)
	}
	clear(v.out) // may hold large frames
	p.out = v.out[:0]
	p.cut()
}

// follow shows a frame to the stages after index from. Unless one of them decides
// otherwise, the frame comes out unchanged. original says that the frame is as its sender
// sent it.
func (v *passage) follow(from int, f wire.Frame, original bool, turns int) {
	if f.Kind == wire.Mark {
		v.out = append(v.out, f)
		return
	}
	step := [wire.Directions]int{wire.ClientToAgent: 1, wire.AgentToClient: -1}[f.Dir]
	f.Size = int64(len(f.Raw))
	for at := from + step; step != 0 && 0 <= at && at < len(v.stages) && turns < maxTurns; at += step {
		s := &v.stages[at]
		if !s.shown(f.Dir) {
			continue
		}
		out, passed := v.intercept(s, f)
		if len(out) == 1 && passed == 0 {
			s.keep(out)
			continue
		}
		v.spread(s, out, passed, original, turns+1)
		return
	}
	if original {
		v.passed = len(v.out)
	}
	v.out = append(v.out, f)
}

// spread follows each frame that a stage returned. The one at index passed is the frame
// that the stage was shown; original says whether its sender sent it like that.
func (v *passage) spread(s *stage, out []wire.Frame, passed int, original bool, turns int) {
	if len(v.stages) > 1 { // the stage may be called again before everything is put
		for i := range out {
			if i != passed {
				out[i].Raw = bytes.Clone(out[i].Raw)
			}
		}
	}
	for i, f := range out {
		v.follow(s.place, f, original && i == passed, turns)
	}
	s.keep(out)
}
