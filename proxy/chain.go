package proxy

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// maxTurns is how often a frame may be answered by one Interceptor, that answer by
// another, and so on. What is answered then passes the rest of the chain unseen:
// they would go on for ever.
const maxTurns = 100

// A passage is what becomes of a frame in the chain, or of what an Interceptor
// sends by itself.
type passage struct {
	*pipeline
	out    []wire.Frame // what comes out at both ends of the chain
	passed int          // which of out is the frame, as it came; -1 if none
}

// pass shows a frame to the chain, and puts what becomes of it where it goes.
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
		v.out = slices.Insert(v.out, at, f) // behind the notes about it
	}
	p.leave(v)
}

// send puts what an Interceptor sends by itself where it goes.
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

// leave puts what has come out of the chain where it goes.
func (p *pipeline) leave(v *passage) {
	for _, f := range v.out {
		p.put(f)
	}
	clear(v.out) // may hold large frames
	p.out = v.out[:0]
	p.cut()
}

// follow shows a frame to the stages behind the place from. Unless one of them
// decides otherwise it comes out as it is. original says that it is what its
// sender sent.
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

// spread follows what a stage has returned. The one at the index passed is what it
// was shown; original says whether that was what its sender sent.
func (v *passage) spread(s *stage, out []wire.Frame, passed int, original bool, turns int) {
	if len(v.stages) > 1 { // it may be called again before all has been put
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
