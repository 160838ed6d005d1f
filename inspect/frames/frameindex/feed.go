package frameindex

import (
	"context"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Sink receives the contents of a timeline's tapes, and of the tapes of servers that
// the agent started. Its methods are called in one goroutine.
type Sink interface {
	// Begin is called first, unless the tapes cannot be opened. t is for this goroutine
	// only.
	Begin(ctx context.Context, t *Timeline)
	// Take processes the next event. It must not retain any part of e.
	Take(e *Event)
	// End is called last. ended reports whether all tapes have ended; if not, ctx is done.
	End(ended bool)
}

// An Event occurs while the tapes of a timeline are read. Its frame has its tape's number
// and time.
type Event struct {
	*reading.Event
	Place  int    // index of the part on the timeline; -1 for the tape of a server that is not on it
	Number uint64 // the frame's number on the timeline; 0 if it has none
}

// Feed reads the tapes once for several sinks, from the first frame until they end or ctx
// is done. It reopens them, and starts once the index is complete, since users wait for
// that first. store has the tapes of servers; if nil, Feed reads only the tapes on the
// timeline.
func (t *Timeline) Feed(ctx context.Context, index *Index, store *record.Store, sinks ...Sink) {
	defer func() {
		for _, s := range sinks {
			s.End(ctx.Err() == nil)
		}
	}()
	take := func(e *Event) {
		for _, s := range sinks {
			s.Take(e)
		}
	}
	fail := func(err error) {
		take(&Event{Event: &reading.Event{Kind: reading.Read, Err: err}, Place: -1})
	}
	if !index.Await(ctx) {
		return
	}
	t, err := t.Reopen()
	if err != nil {
		fail(err)
		return
	}
	for _, s := range sinks {
		s.Begin(ctx, t)
	}
	if t.HasServers() {
		store = t.order.store
	}
	r, err := t.reader(store, t.HasServers())
	if err != nil {
		fail(err)
	}
	for e := range r.Read(ctx) {
		one := Event{e, -1, 0}
		if e.Part != nil {
			one.locate(ctx, t)
		}
		take(&one)
	}
}

// locate finds the event's place on the timeline. If servers are on it, locate waits
// until the index has the frame.
func (e *Event) locate(ctx context.Context, t *Timeline) {
	isFrame := e.Kind == reading.Read && e.Err == nil
	switch {
	case t.order != nil && isFrame:
		e.Place, e.Number = t.order.find(ctx, e.Part.Info.Tape, e.Frame.Seq)
	case t.order != nil:
		if place, ok := t.PartWith(e.Part.Info.Tape); ok {
			e.Place = place
		}
	case !e.Part.IsServer():
		if e.Place = e.Part.Index; isFrame {
			e.Number = t.agents[e.Place].Before + e.Frame.Seq
		}
	}
}

// Placed returns the frame of an event with its number and time on the timeline.
func (t *Timeline) Placed(e *Event) dialect.Frame {
	f := e.Frame
	t.number(e.Place, e.Number, &f)
	return f
}

// reader returns a reader for the timeline's tapes and those of the agent's servers,
// which are in store; if all is true, also those of servers that these started. If it
// cannot list all servers, it returns an error and a reader for those it found.
func (t *Timeline) reader(store *record.Store, all bool) (*reading.Reader, error) {
	var agents []reading.Part
	for _, p := range t.agents {
		p.Store = store
		agents = append(agents, p.Part)
	}
	r := reading.New(agents)
	r.Follow = true
	return r, r.AddServers(all)
}

// know records which servers r has found, and the sessions for which they were started.
func (t *Timeline) know(r *reading.Reader) {
	if t.order == nil {
		return
	}
	for _, p := range r.Parts[t.Size():] {
		t.order.add(Part{Part: *p})
	}
	for _, p := range r.Servers() {
		t.order.link(p.Index, p.Session)
	}
}

// put gives a frame read by r its number and time on the timeline.
func (t *Timeline) put(r *reading.Reader, e *reading.Event) {
	part := e.Part.Index
	if t.order == nil {
		t.agents[part].shift(&e.Frame)
		return
	}
	if !e.Part.IsServer() && nested.Concern(&e.Frame) {
		t.know(r)
	}
	t.renumber(part, t.order.put(part, e.Frame.Seq), &e.Frame)
}
