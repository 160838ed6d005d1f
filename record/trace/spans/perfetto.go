package spans

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// A Perfetto writes spans in the Trace Event Format, which Perfetto, speedscope and
// chrome://tracing can open. Each tape is a process, each session a thread; one more thread
// holds everything outside of sessions. Spans that nest or follow each other are slices;
// overlapping ones are asynchronous events. Times are microseconds since Start.
type Perfetto struct {
	W     io.Writer
	Start time.Time

	processes map[string]int // by tape, from 1
	threads   map[thread]int // from 1, on all tapes
	until     map[int]time.Time
	begun     bool
	err       error
}

type thread struct {
	process int
	session string
}

// A traceEvent is an event of the format. Perfetto and the format's document (Chrome,
// "Trace Event Format") agree on these members.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     json.Number    `json:"ts,omitempty"`
	Duration json.Number    `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid,omitempty"`
	ID       string         `json:"id,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// A step is an event with a duration.
type step struct {
	traceEvent
	from, to time.Time
}

// Write writes a set.
func (p *Perfetto) Write(set Set) error {
	var open []time.Time // ends of the slices that may contain the next one
	for _, s := range p.steps(set) {
		for len(open) > 0 && !s.from.Before(open[len(open)-1]) {
			open = open[:len(open)-1]
		}
		switch {
		case len(open) > 0 && !s.to.After(open[len(open)-1]):
		case len(open) == 0 && !s.from.Before(p.until[s.Thread]):
			p.until[s.Thread] = s.to
		case s.Category == Connection.String(): // it contains everything so far
		default:
			p.overlapping(s)
			continue
		}
		open = append(open, s.to)
		s.Phase, s.Duration, s.ID = "X", microseconds(s.to.Sub(s.from)), ""
		p.event(s.traceEvent)
	}
	return p.err
}

// overlapping writes a step that overlaps others and so cannot be a slice.
func (p *Perfetto) overlapping(s step) {
	s.Phase = "b"
	p.event(s.traceEvent)
	s.Phase, s.Time, s.Args = "e", p.time(s.to), nil
	p.event(s.traceEvent)
}

// steps returns the steps of a set, sorted by beginning, outer ones first, and writes the
// instants.
func (p *Perfetto) steps(set Set) (list []step) {
	for i := range set.Spans {
		s := &set.Spans[i]
		on := p.thread(s)
		on.Name, on.Category, on.Time, on.ID, on.Args = s.Name, s.Kind.String(), p.time(s.Start), "0x"+s.ID.String(), args(s.Attrs)
		list = append(list, step{on, s.Start, s.End})
		for n, e := range s.Events {
			at := traceEvent{Name: e.Name, Category: "turn", Phase: "i", Time: p.time(e.Time), Process: on.Process, Thread: on.Thread, Scope: "t", Args: args(e.Attrs)}
			if e.Name != outputEvent {
				p.event(at)
				continue
			}
			at.Name, at.Scope, at.ID = "message", "", fmt.Sprintf("%s.%d", on.ID, n)
			if at.Args[outputRole] == "thought" {
				at.Name = "thought"
			}
			took, _ := at.Args[outputSeconds].(float64)
			list = append(list, step{at, e.Time, e.Time.Add(time.Duration(took * float64(time.Second)))})
		}
		p.tokens(s, on)
	}
	slices.SortStableFunc(list, func(a, b step) int { return cmp.Or(a.from.Compare(b.from), b.to.Compare(a.to)) })
	return list
}

// Close completes the text. It does not close W.
func (p *Perfetto) Close() error {
	if !p.begun {
		p.write(`{"traceEvents":[`)
	}
	p.write("\n],\"displayTimeUnit\":\"ms\"}\n")
	return p.err
}

// tokens writes the tokens of a turn as counters.
func (p *Perfetto) tokens(s *Span, on traceEvent) {
	for _, c := range []struct{ counter, attr string }{
		{"input tokens", inputTokens}, {"output tokens", outputTokens}, {"tokens in context", contextTokens},
	} {
		for _, a := range s.Attrs {
			if a.Name == c.attr {
				p.event(traceEvent{Name: c.counter, Phase: "C", Time: p.time(s.End), Process: on.Process, Thread: on.Thread, Args: map[string]any{"tokens": a.Value}})
			}
		}
	}
}

// thread returns an event with the process and thread of a span. It writes their names on
// first use.
func (p *Perfetto) thread(s *Span) (on traceEvent) {
	if p.processes == nil {
		p.processes, p.threads, p.until = map[string]int{}, map[thread]int{}, map[int]time.Time{}
	}
	tape, _ := args(s.Attrs)[tapeID].(string)
	if on.Process = p.processes[tape]; on.Process == 0 {
		on.Process = len(p.processes) + 1
		p.processes[tape] = on.Process
		p.event(traceEvent{Name: "process_name", Phase: "M", Process: on.Process, Args: map[string]any{"name": "tape " + tape}})
	}
	key := thread{on.Process, s.Session}
	if on.Thread = p.threads[key]; on.Thread == 0 {
		on.Thread = len(p.threads) + 1
		p.threads[key] = on.Thread
		name := "connection"
		if s.Session != "" {
			name = "session " + clip(s.Session, maxName)
		}
		p.event(traceEvent{Name: "thread_name", Phase: "M", Process: on.Process, Thread: on.Thread, Args: map[string]any{"name": name}})
	}
	return on
}

// args returns attributes as members of an object.
func args(list []Attr) map[string]any {
	m := make(map[string]any, len(list))
	for _, a := range list {
		m[a.Name] = a.Value
	}
	return m
}

func (p *Perfetto) time(t time.Time) json.Number { return microseconds(t.Sub(p.Start)) }

// microseconds returns a duration with its nanoseconds as a fraction.
func microseconds(d time.Duration) json.Number {
	return json.Number(strconv.FormatFloat(float64(d)/1e3, 'f', 3, 64))
}

// event writes an event on a line of its own.
func (p *Perfetto) event(e traceEvent) {
	text, err := json.Marshal(e)
	if err != nil && p.err == nil {
		p.err = err
	}
	before := ",\n"
	if !p.begun {
		before, p.begun = `{"traceEvents":[`+"\n", true
	}
	p.write(before + string(text))
}

func (p *Perfetto) write(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.W, text)
	}
}
