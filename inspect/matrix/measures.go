package matrix

import (
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// Measures are the properties, apart from capabilities, by which two versions of a peer
// are compared.
type Measures struct {
	Findings map[string]int  // by rule, of warnings and violations
	Tried    map[string]bool // rules that could have been broken
	Stops    map[string]int  // turns by their stop reason
	Errors   map[string]int  // errors in the peer's answers, by code

	Turns stats.Turns
	Setup stats.Series // of session/new
}

// maxKinds limits stop reasons and codes, which peers choose.
const maxKinds = 256

func (m *Measures) found(rule string)  { add(&m.Findings, rule, 1) }
func (m *Measures) failed(code string) { add(&m.Errors, code, 1) }

func (m *Measures) tried(rule string) {
	if m.Tried == nil {
		m.Tried = make(map[string]bool)
	}
	m.Tried[rule] = true
}

func add(m *map[string]int, key string, n int) {
	if *m == nil {
		*m = make(map[string]int)
	}
	if _, known := (*m)[key]; known || len(*m) < maxKinds {
		(*m)[key] += n
	}
}

// events adds everything that the last frame ended.
func (r *Reader) events() {
	for _, e := range r.trace.Events() {
		r.turns(r.ends.Observe(&e))
		if p := r.link.peer; p != nil && e.Kind == trace.CallEvent && e.Phase == trace.Ended && dialect.Does(e.Method, dialect.Creates) && e.End == trace.Completed && !e.Untimed {
			p.Setup.Add(int64(e.At - e.Began))
		}
	}
}

// turns adds turns with the peer.
func (r *Reader) turns(ends []trace.TurnEnd) {
	p := r.link.peer
	if p == nil {
		return
	}
	for i := range ends {
		p.Turns.Add(&ends[i])
		if ends[i].How.Known() {
			add(&p.Stops, ends[i].Reason, 1)
		}
	}
}

// rest adds the connection's turns that have not been added yet.
func (r *Reader) rest() {
	r.turns(r.ends.Rest(r.trace.Now()))
	r.ends = trace.TurnEnds{}
}

// Enough is the number of samples that both versions need before times are compared.
const Enough = 20

// doubled reports whether the median of after is at least twice that of before. ok is false
// if there are too few samples.
func doubled(before, after *stats.Series) (from, to time.Duration, yes, ok bool) {
	if before.Count() < Enough || after.Count() < Enough {
		return 0, 0, false, false
	}
	a, _ := before.Percentile(50)
	b, _ := after.Percentile(50)
	return time.Duration(a), time.Duration(b), b >= 2*a && b > a, true
}
