package reading

import (
	"cmp"
	"iter"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// A pass reads the tapes once.
type pass struct {
	*Reader
	yield func(*Event) bool

	pending []Event // frames that were found together
	size    int     // their bytes
	ended   []*Part // parts that end after the pending frames
	told    string  // the last error that belongs to no tape
}

// recorded yields what has been recorded, in order of time, and reports whether to
// continue. It opens a tape only when its first frame is due, so that no more tapes are
// open at once than were recorded at once.
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

// merge yields, in order of time, the contents of the agent's tapes and of the waiting
// ones, which are sorted by time.
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

// frames yields the contents of tapes, one tape after another.
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
	case p.Clean:
		return fromNumber(part.Tape.Redacted(), part.last+1)
	case p.Fields:
		return part.Tape.Rows(part.last + 1)
	}
	return part.Tape.Frames(part.last + 1)
}

// fromNumber yields the frames from number on.
func fromNumber(frames iter.Seq2[dialect.Frame, error], number uint64) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		for f, err := range frames {
			if (err != nil || f.Seq >= number) && !yield(f, err) {
				return
			}
		}
	}
}

// place sets the time of an event, and records that its frame was read.
func (e *Event) place() {
	p := e.Part
	if p.at = max(p.at, p.Began); e.Err == nil {
		if p.last = e.Frame.Seq; !e.Frame.Untimed {
			p.at = e.Frame.At + p.Began
		}
	}
	e.At = p.at
}

// A source yields the events of one tape, or of the agent's tapes.
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

// advance goes to the next event, and reports whether there is one.
func (s *source) advance() (ok bool) {
	s.Event, ok = s.next()
	return ok
}

// earliest returns the source with the earliest event, or nil if there is none. Of
// several, it returns the one opened first.
func earliest(open []*source) (first *source) {
	for _, s := range open {
		if first == nil || s.At < first.At {
			first = s
		}
	}
	return first
}
