package inspect

import (
	"cmp"
	"errors"
	"slices"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// beyond returns the frame behind the selected row, or the one before it, and
// the way to the next one from there.
func (a *app) beyond(forward bool) (seq, step uint64) {
	if !forward {
		return a.model.selected - 1, backward
	}
	return a.model.selected + uint64(max(a.model.stretch(a.model.selected).frames, 1)), 1
}

// A hunt looks for a frame, from one on.
type hunt struct {
	from, step uint64
	may        func(*dialect.Frame) bool // is given the fields
	fits       func(*dialect.Frame) bool // is given the bytes of those that may; nil: all of them do
}

const (
	// maxCandidates is how many frames a hunt reads at once: on the way to the
	// beginning too they are read forwards.
	maxCandidates = 1 << 10

	// nearby is how many frames are looked at before the next key: that takes a
	// few milliseconds (BenchmarkMillion). More of them are looked at behind.
	nearby = 1 << 14
)

// hunt has the event loop call then with the frame that is found, 0 for none. What
// is found by its fields near by is at once.
func (a *app) hunt(h hunt, then func(seq uint64)) {
	c, r := a.known.columns, a.reel
	if h.fits == nil {
		left := nearby
		found := c.seek(h.from, h.step, func(f *dialect.Frame) bool { left--; return left < 0 || h.may(f) })
		if left >= 0 {
			then(found)
			return
		}
		h.from = found
	}
	a.behind(func(on gauge) func() {
		found, err := h.run(c, r, on)
		return func() {
			if err != nil {
				a.fail(err)
				return
			}
			then(found)
		}
	})
}

// run looks at one stretch of frames after the other.
func (h *hunt) run(c columns, r *reel, on gauge) (found uint64, err error) {
	if h.fits != nil {
		if r, err = r.again(); err != nil {
			return 0, err
		}
	}
	for next := h.from; next != 0; {
		var some []uint64
		some, next = h.candidates(c, next, on)
		if h.fits == nil || on.ctx.Err() != nil {
			return next, nil
		}
		if found := r.first(some, h.fits, on); found != 0 {
			return found, nil
		}
	}
	return 0, nil
}

// candidates returns frames near each other that may fit, and the next one that
// may, 0 if there is none.
func (h *hunt) candidates(c columns, from uint64, on gauge) (some []uint64, next uint64) {
	next = c.seek(from, h.step, func(f *dialect.Frame) bool {
		n := len(some)
		switch {
		case !on.at(f.Seq):
			return true
		case !h.may(f):
			return false
		case h.fits == nil, n == maxCandidates, n > 0 && max(f.Seq, some[n-1])-min(f.Seq, some[n-1]) > far:
			return true
		}
		some = append(some, f.Seq)
		return false
	})
	return some, next
}

// first returns the first of some frames that fits, 0 if none does. They may
// be in falling order.
func (r *reel) first(seqs []uint64, fits func(*dialect.Frame) bool, on gauge) uint64 {
	if len(seqs) == 0 {
		return 0
	}
	rising := slices.Sorted(slices.Values(seqs))
	forward := seqs[0] == rising[0]
	found := uint64(0)
	for f, err := range r.frames(rising[0]) {
		if !on.at(f.Seq) || err == nil && f.Seq > rising[len(rising)-1] {
			break
		}
		if _, wanted := slices.BinarySearch(rising, f.Seq); err != nil || !wanted || !fits(&f) {
			continue
		}
		if found = f.Seq; forward {
			break
		}
	}
	return found
}

// huntShown is hunt for those frames that are shown, from the selected row on.
func (a *app) huntShown(forward bool, h hunt, missing string) {
	hits, may := a.model.hits.clone(), h.may
	h.may = func(f *dialect.Frame) bool { return hits.has(f.Seq) && may(f) }
	h.from, h.step = a.beyond(forward)
	a.hunt(h, func(seq uint64) { a.jumpOr(seq, missing) })
}

// jump selects a frame.
func (a *app) jump(seq uint64) { a.fail(a.model.jump(seq)) }

// jumpOr selects a frame, or says that there is none.
func (a *app) jumpOr(seq uint64, missing string) {
	if seq == 0 {
		a.say(missing)
		return
	}
	a.jump(seq)
}

// pair goes from a response, or a cancellation, to its request, and from a
// request to its response; to its cancellation if it has none.
func (a *app) pair() {
	f := a.pane.frame
	if request := requestOf(&f); request != 0 {
		a.jump(request)
		return
	}
	if f.Kind != wire.Request && f.Kind != wire.Batch {
		a.say("no request and no response")
		return
	}
	cancelled := uint64(0)
	answers := func(g *dialect.Frame) bool {
		if requestOf(g) == f.Seq && g.Events.Has(dialect.RequestCancelled) {
			cancelled = cmp.Or(cancelled, g.Seq)
			return false
		}
		return requestOf(g) == f.Seq
	}
	a.hunt(hunt{from: f.Seq + 1, step: 1, may: answers}, func(seq uint64) { a.jumpOr(cmp.Or(seq, cancelled), "no answer") })
}

// sameMethod goes to the next frame of this method or variant.
func (a *app) sameMethod(forward bool) {
	f := a.pane.frame
	called := frametext.Name(&f)
	if called == "" {
		a.say("this frame has no method")
		return
	}
	a.huntShown(forward, hunt{may: func(g *dialect.Frame) bool { return frametext.Name(g) == called }}, "no "+termtext.Piece(called)+" "+direction(forward))
}

// sameTool goes to the next frame about this tool call.
func (a *app) sameTool(forward bool) {
	f := a.pane.frame
	id := filter.ToolOf(&f).ID
	if id == "" {
		a.say("this frame is about no tool call")
		return
	}
	may := func(g *dialect.Frame) bool { return g.Session == f.Session && filter.AboutTool(g) }
	fits := func(g *dialect.Frame) bool { return filter.ToolOf(g).ID == id }
	a.huntShown(forward, hunt{may: may, fits: fits}, "nothing of this tool call "+direction(forward))
}

// forms shows what acptap has changed in a frame.
func (a *app) forms() {
	f := a.pane.frame
	seq, step := f.Seq+1, uint64(1)
	switch f.Origin {
	case wire.Rewritten:
		seq, step = f.Seq-1, backward
	case wire.Withheld:
	default:
		a.say("acptap has not changed this frame")
		return
	}
	// wire.Rewritten: it stands in the place of the one before it in its direction.
	var other wire.Origin
	changed := func(g *dialect.Frame) bool {
		other = g.Origin
		return g.Dir == f.Dir && (other == wire.Withheld || other == wire.Rewritten)
	}
	a.hunt(hunt{from: seq, step: step, may: changed}, func(found uint64) {
		if found == 0 || other == f.Origin {
			a.say("it was withheld, and nothing came in its place")
			return
		}
		a.compare(found, f.Seq)
	})
}

// compare shows what differs between two frames.
func (a *app) compare(before, after uint64) {
	if before > after {
		before, after = after, before
	}
	f, err := a.book.frame(before)
	g, err2 := a.book.frame(after)
	if err := errors.Join(err, err2); err != nil {
		a.fail(err)
		return
	}
	a.pane.compare("frame "+a.reel.label(before)+" against frame "+a.reel.label(after)+" · Esc ends", f.Raw, g.Raw)
	a.intoPane()
}

// compareWithMark compares the selected frame with the marked one.
func (a *app) compareWithMark() {
	switch seq := a.model.current(); {
	case a.model.mark == 0:
		a.say("mark a frame with m first")
	case seq == 0:
		a.say(noFrame)
	default:
		a.compare(a.model.mark, seq)
	}
}
