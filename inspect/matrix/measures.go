package matrix

import (
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// Measures are what two versions of a peer are compared by, apart from capabilities.
type Measures struct {
	Findings map[string]int  // by rule, of warnings and violations
	Tried    map[string]bool // rules that had an occasion
	Stops    map[string]int  // turns by their stop reason
	Errors   map[string]int  // errors that the peer answered with, by code

	FirstSign stats.Series // from a prompt to the first output
	Setup     stats.Series // of session/new
	Turns     stats.Series
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

// events adds what the last frame ended.
func (r *Reader) events() {
	p := r.link.peer
	if p == nil {
		return
	}
	for _, e := range r.trace.Events() {
		if e.Phase != trace.Ended || e.End == trace.StillOpen || e.End == trace.Forgotten {
			continue
		}
		took := e.At - e.Began
		switch {
		case e.Kind == trace.TurnEvent:
			add(&p.Stops, e.Reason, 1)
			if !e.Untimed {
				p.Turns.Add(int64(took))
				if e.Turn.Output != 0 {
					p.FirstSign.Add(int64(e.Turn.FirstOutput - e.Began))
				}
			}
		case e.Kind == trace.CallEvent && dialect.Does(e.Method, dialect.Creates) && e.End == trace.Completed && !e.Untimed:
			p.Setup.Add(int64(took))
		}
	}
}

// Enough is how many samples both versions need for times to be compared.
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
