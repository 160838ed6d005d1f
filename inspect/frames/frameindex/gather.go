package frameindex

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/nested"
)

// A gathering finds the tapes of the servers of an agent, and puts the frames of all into
// the order of a timeline.
type gathering struct {
	*Timeline
	onEnd func() // called when a tape has ended, and no frame may follow

	known   map[string]int  // parts, by tape
	listed  map[string]bool // tapes that were in the store, and complete, when it was listed
	last    map[int]uint64  // of each part: its last frame in the order
	at      map[int]time.Duration
	read    int // parts that there were when what was recorded had been read
	live    int // tapes that may go on
	links   links
	pending []placed // frames that came together
	size    int      // their bytes
	ended   []int    // parts that end behind these
}

// A placed frame is one of a part, with its number there.
type placed struct {
	part  int
	frame dialect.Frame
	err   error         // in its place
	at    time.Duration // of it, since the first tape began
}

// gather returns a gathering for the goroutine of an Index.
func (t *Timeline) gather(onEnd func()) *gathering {
	g := &gathering{Timeline: t, onEnd: onEnd, known: map[string]int{}, listed: map[string]bool{}, last: map[int]uint64{}, at: map[int]time.Duration{}}
	g.links.order = t.order
	for i := range t.agents {
		g.known[t.agents[i].Info.Tape] = i
	}
	if t.Latest().Info.Live {
		g.live++
	}
	return g
}

// recorded yields what is there, by time. A tape is opened where its first frame is due, so
// that no more of them are open than were recorded at the same time.
func (g *gathering) recorded() iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		if err := g.find(nil); err != nil && !yield(dialect.Frame{}, err) {
			return
		}
		var waiting []int
		for i := len(g.agents); i < g.Size(); i++ {
			waiting = append(waiting, i)
		}
		slices.SortStableFunc(waiting, func(a, b int) int { return cmp.Compare(g.Part(a).Began, g.Part(b).Began) })
		open := []*source{g.source(g.agentRows())}
		defer func() {
			for _, s := range open {
				s.stop()
			}
		}()
		for n := 1; ; n++ {
			first := earliest(open)
			if len(waiting) > 0 && (first == nil || g.Part(waiting[0]).Began <= first.at) {
				open = append(open, g.source(g.rowsOf(waiting[0])))
				waiting = waiting[1:]
				continue
			}
			if first == nil {
				break
			}
			if f, ok := g.put(&first.placed); ok && !yield(f, first.err) {
				return
			}
			if first.advance(); n%publishEvery == 0 {
				g.order.wake()
			}
		}
		g.read = g.Size()
		for i := range g.read {
			if p := g.Part(i); !p.Info.Live || i < len(g.agents)-1 {
				g.order.end(i)
			}
		}
		g.order.wake()
	}
}

// find adds the tapes of servers that are in the store. begun is one that has just begun: a
// list may not tell yet what it is. nil: none.
func (g *gathering) find(begun *record.Info) error {
	l, err := g.order.store.List()
	if err != nil {
		return err
	}
	if begun != nil {
		l.Tapes = slices.DeleteFunc(l.Tapes, func(i record.Info) bool { return i.Tape == begun.Tape })
		l.Tapes = append(l.Tapes, *begun)
	}
	for i := range l.Tapes {
		if one := &l.Tapes[i]; one.Complete {
			g.listed[one.Tape] = true
		}
	}
	n := record.NestingOf(l.Tapes)
	for i := range g.agents {
		if err := g.addBelow(n, i, i, g.agents[i].Info.Tape, ""); err != nil {
			return err
		}
	}
	return nil
}

// addBelow adds the tapes that are nested in one, the part above, and in those, unless they
// are there. name is what stands behind the agent's tape in a reference to the one.
func (g *gathering) addBelow(n record.Nesting, agent, above int, tape, name string) error {
	children := n.Children(tape)
	for i, behind := range record.ServerRefs(children) {
		part, ok := g.known[children[i].Tape]
		if !ok {
			t, err := g.order.store.Open(children[i].Tape)
			if err != nil {
				continue // it was deleted meanwhile
			}
			p := Part{Info: children[i], Began: g.agents[agent].Began, Server: (name + behind)[1:], agent: agent, source: t}
			if start := p.Info.Start.Time; !start.IsZero() && !g.start().IsZero() {
				p.Began = max(start.Sub(g.start()), 0)
			}
			part = g.order.add(p)
			if g.known[p.Info.Tape] = part; p.Info.Live || g.read > 0 {
				g.live++
			}
			g.links.begin(part, above, p.Info.Start.Parent.Link)
		}
		if err := g.addBelow(n, agent, part, children[i].Tape, name+behind); err != nil {
			return err
		}
	}
	return nil
}

// put puts a frame into the order, and returns it with its number there. ok is false if it
// was there before, as on a tape that is damaged.
func (g *gathering) put(p *placed) (f dialect.Frame, ok bool) {
	if p.err != nil {
		return p.frame, true
	}
	if p.frame.Seq <= g.last[p.part] {
		return p.frame, false
	}
	g.last[p.part] = p.frame.Seq
	if p.part < len(g.agents) && nested.Concern(&p.frame) {
		g.links.take(g.Tape(p.part), p.part, &p.frame)
	}
	g.renumber(p.part, g.order.put(p.part, p.frame.Seq), &p.frame)
	return p.frame, true
}

// time returns when a frame of a part came. Without a time it came right behind the one
// before.
func (g *gathering) time(part int, f *dialect.Frame, err error) time.Duration {
	at := max(g.at[part], g.Part(part).Began)
	if err == nil && !f.Untimed {
		at = f.At + g.Part(part).Began
	}
	g.at[part] = at
	return at
}

// agentRows yields the frames of the agent's tapes, one tape behind the other.
func (g *gathering) agentRows() iter.Seq[placed] {
	return func(yield func(placed) bool) {
		for i := range g.agents {
			isLast := i == len(g.agents)-1
			for p := range g.rowsOf(i) {
				if p.err == nil && !isLast && p.frame.Seq > g.agents[i].Info.Lines {
					break // recorded since
				}
				if !yield(p) {
					return
				}
			}
		}
	}
}

// rowsOf yields the frames of a part.
func (g *gathering) rowsOf(part int) iter.Seq[placed] {
	return func(yield func(placed) bool) {
		for f, err := range g.Tape(part).Rows(1) {
			if !yield(placed{part, f, err, g.time(part, &f, err)}) {
				return
			}
		}
	}
}

// A source is where frames of one tape come from, or of the agent's one behind the other.
type source struct {
	placed // that comes next
	next   func() (placed, bool)
	stop   func()
	over   bool
}

func (g *gathering) source(frames iter.Seq[placed]) *source {
	s := &source{}
	s.next, s.stop = iter.Pull(frames)
	s.advance()
	return s
}

func (s *source) advance() {
	var ok bool
	if s.placed, ok = s.next(); !ok {
		s.over = true
	}
}

// earliest returns the source with the earliest frame, of several the one that was opened
// first; nil if there is none.
func earliest(open []*source) (first *source) {
	for _, s := range open {
		if !s.over && (first == nil || s.at < first.at) {
			first = s
		}
	}
	return first
}
