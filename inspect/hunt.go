package inspect

import (
	"context"
	"errors"
	"slices"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// seek returns the next frame that is shown and fits, from the selected row on;
// 0 if there is none. fits is given the fields.
func (a *app) seek(forward bool, fits func(*dialect.Frame) bool) uint64 {
	seq, step := a.beyond(forward)
	return a.known.seek(seq, step, func(f *dialect.Frame) bool { return a.model.hits.has(f.Seq) && fits(f) })
}

// beyond returns the frame behind the selected row, or the one before it, and
// the way to the next one from there.
func (a *app) beyond(forward bool) (seq, step uint64) {
	if !forward {
		return a.model.selected - 1, backward
	}
	return a.model.selected + uint64(max(a.model.stretch(a.model.selected).frames, 1)), 1
}

// maxCandidates is how many frames a hunt reads at once: on the way to the
// beginning too they are read forwards.
const maxCandidates = 1 << 10

// hunt looks for the next frame that fits, in the background: fits is given the
// bytes of those that may. It selects the frame that is found.
func (a *app) hunt(forward bool, may, fits func(*dialect.Frame) bool, missing string) {
	r, err := a.reel.again()
	if err != nil {
		a.fail(err)
		return
	}
	var candidates []uint64
	seq, step := a.beyond(forward)
	a.known.seek(seq, step, func(f *dialect.Frame) bool {
		if a.model.hits.has(f.Seq) && may(f) {
			candidates = append(candidates, f.Seq)
		}
		return false
	})
	a.hunting.start(a.ctx, func(ctx context.Context) {
		found := uint64(0)
		for some := range slices.Chunk(candidates, maxCandidates) {
			if found = r.first(ctx, some, fits); found != 0 {
				break
			}
		}
		a.feed.put(func() {
			switch {
			case ctx.Err() != nil:
			case found == 0:
				a.say(missing)
			default:
				a.jump(found)
			}
		})
	})
}

// first returns the first of some frames that fits, 0 if none does. They may
// be in falling order.
func (r *reel) first(ctx context.Context, seqs []uint64, fits func(*dialect.Frame) bool) uint64 {
	low, high := min(seqs[0], seqs[len(seqs)-1]), max(seqs[0], seqs[len(seqs)-1])
	forward := seqs[0] == low
	found := uint64(0)
	for f, err := range r.frames(low) {
		if ctx.Err() != nil || err == nil && f.Seq > high {
			break
		}
		if err != nil || !slices.Contains(seqs, f.Seq) || !fits(&f) {
			continue
		}
		if found = f.Seq; forward {
			break
		}
	}
	return found
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
	answer := a.known.seek(f.Seq+1, 1, func(g *dialect.Frame) bool {
		return requestOf(g) == f.Seq && !g.Events.Has(dialect.RequestCancelled)
	})
	if answer == 0 {
		answer = a.known.seek(f.Seq+1, 1, func(g *dialect.Frame) bool { return requestOf(g) == f.Seq })
	}
	a.jumpOr(answer, "no answer")
}

// sameMethod goes to the next frame of this method or variant.
func (a *app) sameMethod(forward bool) {
	f := a.pane.frame
	called := name(&f)
	if called == "" {
		a.say("this frame has no method")
		return
	}
	a.jumpOr(a.seek(forward, func(g *dialect.Frame) bool { return name(g) == called }), "no "+piece(called)+" "+direction(forward))
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
	a.hunt(forward, may, fits, "nothing of this tool call "+direction(forward))
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
	var other dialect.Frame
	found := a.known.seek(seq, step, func(g *dialect.Frame) bool {
		other = *g
		return g.Dir == f.Dir && (g.Origin == wire.Withheld || g.Origin == wire.Rewritten)
	})
	if found == 0 || other.Origin == f.Origin {
		a.say("it was withheld, and nothing came in its place")
		return
	}
	a.compare(found, f.Seq)
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
