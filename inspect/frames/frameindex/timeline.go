// Package frameindex finds frames on one or several tapes by number, field or filter. A
// Timeline joins several tapes; an Index keeps the fields of its frames in memory, and a
// RowCache the visible rows; a Scan finds the frames that a filter shows, while tapes are
// read and recorded; a Search looks through all tapes in a store.
//
// A million frames take about 30 MB. The package draws nothing.
package frameindex

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sort"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// A Timeline is one tape, or several joined into one: each tape's numbers continue those
// of the previous one, and times count from the beginning of the first tape. Like a tape,
// it yields frames to one goroutine; any goroutine may ask it for numbers.
//
// After WithServers, frames from servers' tapes are merged by time and numbered together
// with those of the agent that started the servers.
type Timeline struct {
	name   string
	open   func() ([]*record.Tape, error)
	agents []Part               // by time, at least one
	order  *order               // nil if there are no servers
	opened map[int]*record.Tape // servers' tapes, by part
}

// A Part is one tape of a timeline.
type Part struct {
	reading.Part
	Before uint64 // number of frames on the agent's earlier tapes
}

// OpenTimeline returns the timeline of the tapes that open returns, ordered by time;
// Reopen calls open again. name is used in errors.
func OpenTimeline(name string, open func() ([]*record.Tape, error)) (*Timeline, error) {
	tapes, err := open()
	if err != nil {
		return nil, err
	}
	agents, err := reading.Agents(tapes...)
	if err != nil {
		return nil, err
	}
	if len(agents) == 0 {
		return nil, fmt.Errorf("%s: %w", name, record.ErrNoTape)
	}
	t := &Timeline{name: name, open: open}
	var before uint64
	for _, p := range reading.New(agents).Parts {
		t.agents = append(t.agents, Part{Part: *p, Before: before})
		before += p.Info.Lines
	}
	return t, nil
}

// WithServers merges in the frames of the agent's servers, whose tapes are in store. Call
// it before Reopen, and have an Index read one of the reopened timelines; that finds the
// servers.
func (t *Timeline) WithServers(store *record.Store) { t.order = newOrder(store, t.agents) }

// Reopen opens the same tapes for another goroutine. Frames keep their numbers.
func (t *Timeline) Reopen() (*Timeline, error) {
	tapes, err := t.open()
	if err != nil {
		return nil, err
	}
	other := &Timeline{name: t.name, open: t.open, order: t.order}
	for i := range min(len(tapes), len(t.agents)) {
		p := t.agents[i]
		p.Tape = tapes[i]
		other.agents = append(other.agents, p)
	}
	return other, nil
}

// HasServers reports whether servers' frames are merged with the agent's.
func (t *Timeline) HasServers() bool { return t.order != nil }

// Agents returns the agent's tapes, ordered by time.
func (t *Timeline) Agents() []Part { return t.agents }

// Latest returns the last of the agent's tapes.
func (t *Timeline) Latest() *Part { return &t.agents[len(t.agents)-1] }

// Size returns the number of parts so far.
func (t *Timeline) Size() int {
	if t.order == nil {
		return len(t.agents)
	}
	return t.order.size()
}

// Part returns a part. The agent's tapes come first, then those of servers; only the
// Index's goroutine may use a server's Tape.
func (t *Timeline) Part(i int) *Part {
	if i < len(t.agents) {
		return &t.agents[i]
	}
	return t.order.part(i)
}

// Tape returns a part's tape, for reading in the timeline's goroutine.
func (t *Timeline) Tape(i int) *record.Tape {
	if i < len(t.agents) {
		return t.agents[i].Tape
	}
	if t.opened[i] == nil {
		if t.opened == nil {
			t.opened = map[int]*record.Tape{}
		}
		t.opened[i] = t.order.part(i).Tape.Clone()
	}
	return t.opened[i]
}

func (t *Timeline) start() time.Time { return t.agents[0].Info.Start.Time }

// Info returns what is currently known about the agent's tapes: the last one's state,
// with the time when the first one began and the total number of lines.
func (t *Timeline) Info() (record.Info, error) {
	last := t.Latest()
	info, err := last.Tape.Info()
	info.Start.Time = t.start()
	info.Lines += last.Before
	return info, err
}

// frames yields the frames from a number on. Their bytes are valid until the next frame.
func (t *Timeline) frames(from uint64) iter.Seq2[dialect.Frame, error] {
	if t.order != nil {
		return t.ordered(context.Background(), from, false)
	}
	return t.read(from, func(p *Part, from uint64) iter.Seq2[dialect.Frame, error] { return p.Tape.Frames(from) })
}

// Follow is like frames, but waits for more until the last tape has ended or ctx is done.
func (t *Timeline) Follow(ctx context.Context, from uint64) iter.Seq2[dialect.Frame, error] {
	if t.order != nil {
		return t.ordered(ctx, from, true)
	}
	return t.read(from, func(p *Part, from uint64) iter.Seq2[dialect.Frame, error] {
		if p == t.Latest() {
			return p.Tape.Follow(ctx, from)
		}
		return p.Tape.Frames(from)
	})
}

// read yields the frames of the agent's tapes, one tape after another. It does not use a
// reading.Reader, which takes twice as long to open a large tape (BenchmarkMillion/Open
// in inspect/screen).
func (t *Timeline) read(from uint64, of func(*Part, uint64) iter.Seq2[dialect.Frame, error]) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		for i := range t.agents {
			p := &t.agents[i]
			last := p == t.Latest()
			if !last && from > p.Before+p.Info.Lines {
				continue
			}
			for f, err := range of(p, max(from, p.Before+1)-p.Before) {
				if err == nil && !last && f.Seq > p.Info.Lines {
					break // recorded after the numbers were assigned
				}
				p.shift(&f)
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

// shift gives a frame on one of the agent's tapes its number and time on the timeline.
func (p *Part) shift(f *dialect.Frame) {
	f.Seq, f.At = f.Seq+p.Before, f.At+p.Began
	for reply := range f.Replies() {
		reply.Request += p.Before
	}
}

// number gives a part's frame its number and time on the timeline.
func (t *Timeline) number(part int, number uint64, f *dialect.Frame) {
	if t.order == nil {
		t.agents[part].shift(f)
	} else {
		t.renumber(part, number, f)
	}
}

// A Place is a frame's position on its tape.
type Place struct {
	Part int // index in the timeline
	Seq  uint64
}

// PlaceOf returns a frame's place.
func (t *Timeline) PlaceOf(number uint64) Place {
	if t.order == nil {
		i := max(sort.Search(len(t.agents), func(i int) bool { return t.agents[i].Before >= number })-1, 0)
		return Place{i, number - t.agents[i].Before}
	}
	run, _ := t.order.from(number)
	return Place{run.part, run.seq}
}

// Number returns the number of a frame on the timeline, or 0 if it has none yet.
func (t *Timeline) Number(at Place) uint64 {
	if t.order == nil {
		return t.agents[at.Part].Before + at.Seq
	}
	return t.order.number(at.Part, at.Seq)
}

// PartOf returns the index of the part that has a frame.
func (t *Timeline) PartOf(seq uint64) int { return t.PlaceOf(seq).Part }

// GoesOn reports whether more frames may come on a frame's tape.
func (t *Timeline) GoesOn(seq uint64) bool {
	part := t.PartOf(seq)
	if t.order == nil {
		return part == len(t.agents)-1
	}
	return t.order.goesOn(part)
}

// ended returns the k-th part to end, if it ended before the given frame.
func (t *Timeline) ended(k int, before uint64) (part int, ok bool) {
	if t.order != nil {
		return t.order.ended(k, before)
	}
	return k, k+1 < len(t.agents) && t.agents[k+1].Before < before
}

// SessionOf returns the agent's session for which a part's server was started, or "" if
// it is unknown or the part is not a server's.
func (t *Timeline) SessionOf(part int) string {
	if part < len(t.agents) {
		return ""
	}
	return t.order.session(part)
}

// OnItsTape returns a frame with its number and time on its own tape.
func (t *Timeline) OnItsTape(f dialect.Frame) (*record.Tape, dialect.Frame) {
	at := t.PlaceOf(f.Seq)
	f.Seq, f.At = at.Seq, f.At-t.Part(at.Part).Began
	return t.Tape(at.Part), f
}

// frame returns a frame with its bytes.
func (t *Timeline) frame(seq uint64) (dialect.Frame, error) {
	at := t.PlaceOf(seq)
	f, err := t.Tape(at.Part).Frame(at.Seq)
	t.number(at.Part, seq, &f)
	return f, err
}

// Write writes all bytes of a frame.
func (t *Timeline) Write(w io.Writer, seq uint64) error {
	at := t.PlaceOf(seq)
	return t.Tape(at.Part).WriteFrame(w, at.Seq)
}

// Began returns when the tape with a frame began, relative to the first tape. For a
// server's frame this is the tape of the agent that started the server.
func (t *Timeline) Began(seq uint64) time.Duration {
	p := t.Part(t.PartOf(seq))
	if p.Server != "" {
		p = t.Part(p.Agent)
	}
	return p.Began
}

// Has reports whether a tape is on the timeline.
func (t *Timeline) Has(tape string) bool {
	_, ok := t.PartWith(tape)
	return ok
}

// PartWith returns the index of a tape's part.
func (t *Timeline) PartWith(tape string) (part int, ok bool) {
	for i := range t.Size() {
		if t.Part(i).Info.Tape == tape {
			return i, true
		}
	}
	return 0, false
}
