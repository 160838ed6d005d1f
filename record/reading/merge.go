package reading

import (
	"cmp"
	"iter"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// A pass is one time that tapes are read.
type pass struct {
	*Reader
	yield func(*Event) bool

	pending []Event // frames that came together
	size    int     // their bytes
	ended   []*Part // after these
	told    string  // the last error that was of no tape
}

// recorded yields what is there, by time. A tape is opened where its first frame is due, so
// that no more of them are open than were recorded at the same time. It reports whether to go
// on.
func (p *pass) recorded() bool {
	waiting := slices.Clone(p.Servers())
	slices.SortStableFunc(waiting, func(a, b *Part) int { return cmp.Compare(a.Began, b.Began) })
	agents := p.frames(p.Agents()...)
	if len(waiting) == 0 {
		for e := range agents {
			if !p.yield(e) {
				return false
			}
		}
	} else if !p.merge(agents, waiting) {
		return false
	}
	for _, part := range p.Parts {
		if !part.Info.Live || part.Index < p.agents-1 {
			if part.over = true; !p.yield(&Event{Kind: Ends, Part: part}) {
				return false
			}
		}
	}
	return p.yield(&Event{Kind: Looked})
}

// merge yields what is on the tapes of the agent and on those that wait, which are sorted by
// time.
func (p *pass) merge(agents iter.Seq[*Event], waiting []*Part) bool {
	open := []*source{newSource(agents)}
	defer func() {
		for _, s := range open {
			s.stop()
		}
	}()
	for {
		first := earliest(open)
		if len(waiting) > 0 && (first == nil || waiting[0].Began <= first.At) {
			open = append(open, newSource(p.frames(waiting[0])))
			waiting = waiting[1:]
			continue
		}
		if first == nil {
			return true
		}
		if !p.yield(first.Event) {
			return false
		}
		if !first.advance() {
			open = slices.DeleteFunc(open, func(s *source) bool { return s == first })
		}
	}
}

// frames yields what is on tapes, one tape after another.
func (p *pass) frames(parts ...*Part) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		var e Event
		for _, part := range parts {
			e = Event{Kind: Begins, Part: part, At: part.Began}
			if !yield(&e) {
				return
			}
			part.begun, part.last = true, max(part.From, 1)-1
			for f, err := range p.framesOf(part) {
				if err == nil && part.Index < p.agents-1 && f.Seq > part.Info.Lines {
					break // recorded since it was found
				}
				e = Event{Kind: Read, Part: part, Frame: f, Err: err}
				if e.place(); !yield(&e) {
					return
				}
			}
		}
	}
}

// framesOf yields the frames of a tape.
func (p *pass) framesOf(part *Part) iter.Seq2[dialect.Frame, error] {
	switch {
	case part.Frames != nil:
		return part.Frames
	case p.Fields:
		return part.Tape.Rows(part.last + 1)
	}
	return part.Tape.Frames(part.last + 1)
}

// place notes when the frame came, and that it was read.
func (e *Event) place() {
	p := e.Part
	if p.at = max(p.at, p.Began); e.Err == nil {
		if p.last = e.Frame.Seq; !e.Frame.Untimed {
			p.at = e.Frame.At + p.Began
		}
	}
	e.At = p.at
}

// A source is where the events of one tape come from, or of those of the agent.
type source struct {
	*Event // the next one
	next   func() (*Event, bool)
	stop   func()
}

func newSource(events iter.Seq[*Event]) *source {
	s := &source{}
	s.next, s.stop = iter.Pull(events)
	s.advance() // it begins
	return s
}

// advance goes to the next event. It reports whether there is one.
func (s *source) advance() (ok bool) {
	s.Event, ok = s.next()
	return ok
}

// earliest returns the source with the earliest event, of several the one that was opened
// first; nil if there is none.
func earliest(open []*source) (first *source) {
	for _, s := range open {
		if first == nil || s.At < first.At {
			first = s
		}
	}
	return first
}
