package frameindex

import (
	"context"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// A Sink takes the contents of a timeline's tapes, and of the tapes of servers that the
// agent started. Its methods are called in one goroutine.
type Sink interface {
	// Begin is called first, unless the tapes cannot be opened. t is for this goroutine.
	Begin(ctx context.Context, t *Timeline)
	// Take takes the next event. It keeps no part of e.
	Take(e *Event)
	// End is called last. ended reports whether all tapes have ended; if not, ctx is done.
	End(ended bool)
}

// An Event is an event of reading the tapes of a timeline. Its frame has the number and the
// time of its tape.
type Event struct {
	*reading.Event
	Place  int    // index of the part on the timeline; -1 for the tape of a server that is not on it
	Number uint64 // number of the frame on the timeline; 0 if it has none
}

// Feed reads the tapes once for several sinks, from the first frame until they end or ctx
// is done. It reopens them, and begins once the index is complete, since users wait for
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

// locate finds where the event is on the timeline. If servers are on it, it waits until the
// index has the frame.
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
