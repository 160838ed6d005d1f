package inspect

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A hunt looks for the next frame of some kind, in the background.
type hunt struct {
	forward   bool
	withBytes bool
	fits      func(*dialect.Frame) bool
}

// backwards is how many frames are read at once on the way to the beginning: a
// tape is read forwards only.
const backwards = 1 << 12

// from looks from a frame on and returns the first that fits, 0 if there is none.
func (h *hunt) from(ctx context.Context, tape *record.Tape, seq uint64) uint64 {
	if h.forward {
		found, _ := h.between(ctx, tape, seq, 0)
		return found
	}
	for seq > 0 && ctx.Err() == nil {
		first := max(seq, backwards) - backwards + 1
		if _, found := h.between(ctx, tape, first, seq+1); found != 0 {
			return found
		}
		seq = first - 1
	}
	return 0
}

// between returns the first and the last frame that fit, of those before end;
// without an end it is content with the first.
func (h *hunt) between(ctx context.Context, tape *record.Tape, begin, end uint64) (first, last uint64) {
	frames := tape.Rows
	if h.withBytes {
		frames = tape.Frames
	}
	for f, err := range frames(begin) {
		if ctx.Err() != nil || end != 0 && f.Seq >= end {
			break
		}
		if err != nil || !h.fits(&f) {
			continue
		}
		if last = f.Seq; first == 0 {
			first = f.Seq
		}
		if end == 0 {
			break
		}
	}
	return first, last
}

// start begins a hunt from the selected row on, and calls then with the first
// frame that is found, if it is shown.
func (a *app) start(h hunt, missing string, then func(seq uint64)) {
	from := a.model.selected + uint64(max(a.model.stretch(a.model.selected).frames, 1))
	if !h.forward {
		from = a.model.selected - 1
	}
	a.startAt(h, from, missing, then)
}

func (a *app) startAt(h hunt, from uint64, missing string, then func(seq uint64)) {
	a.stopHunt()
	tape, err := a.subject.Open()
	if err != nil {
		a.fail(err)
		return
	}
	ctx, cancel := context.WithCancel(a.ctx)
	var hunting sync.WaitGroup
	hunting.Go(func() {
		seq := h.from(ctx, tape, from)
		a.feed.put(func() {
			switch {
			case ctx.Err() != nil:
			case seq == 0:
				a.say(missing)
			case a.model.hits.has(seq):
				then(seq)
			case h.forward:
				a.startAt(h, seq+1, missing, then)
			default:
				a.startAt(h, seq-1, missing, then)
			}
		})
	})
	a.stopHunt = func() { cancel(); hunting.Wait() }
}

// jump selects a frame.
func (a *app) jump(seq uint64) { a.fail(a.model.jump(seq)) }

// pair goes from a response to its request, and from a request to its response.
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
	a.start(hunt{forward: true, fits: func(g *dialect.Frame) bool { return requestOf(g) == f.Seq }}, "no answer", a.jump)
}

// sameMethod goes to the next frame of this method or variant.
func (a *app) sameMethod(forward bool) {
	f := a.pane.frame
	called := name(&f)
	if called == "" {
		a.say("this frame has no method")
		return
	}
	a.start(hunt{forward: forward, fits: func(g *dialect.Frame) bool { return name(g) == called }},
		"no "+piece(called)+" "+direction(forward), a.jump)
}

// sameTool goes to the next frame about this tool call.
func (a *app) sameTool(forward bool) {
	f := a.pane.frame
	id := toolCallID(&f)
	if id == "" {
		a.say("this frame is about no tool call")
		return
	}
	fits := func(g *dialect.Frame) bool { return g.Session == f.Session && toolCallID(g) == id }
	a.start(hunt{forward: forward, withBytes: true, fits: fits}, "nothing of this tool call "+direction(forward), a.jump)
}

// toolCallID returns the id of the tool call that an update or a question is
// about.
func toolCallID(f *dialect.Frame) string {
	if !strings.HasPrefix(f.Update, "tool_call") && (f.Method != "session/request_permission" || f.Kind != wire.Request) || !bytes.Contains(f.Raw, []byte("toolCallId")) {
		return ""
	}
	v := gjson.ParseBytes(wire.Scan(f.Raw).Params)
	return first(v, "update.toolCallId", "toolCall.toolCallId", "subject.toolCall.toolCallId")
}

// forms shows what acptap has changed in a frame.
func (a *app) forms() {
	f := a.pane.frame
	var h hunt
	switch f.Origin {
	case wire.Rewritten:
		h.fits = func(g *dialect.Frame) bool { return g.Origin == wire.Withheld && g.Dir == f.Dir }
	case wire.Withheld:
		h.forward = true
		h.fits = func(g *dialect.Frame) bool { return g.Origin != wire.Wire && g.Dir == f.Dir }
	default:
		a.say("acptap has not changed this frame")
		return
	}
	a.start(h, "it was withheld, and nothing came in its place", func(seq uint64) { a.compare(seq, f.Seq) })
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
	a.pane.compare("frame "+grouped(int64(before))+" against frame "+grouped(int64(after))+" · Esc ends", f.Raw, g.Raw)
	a.inPane = true
}

// compareWithMark compares the selected frame with the marked one.
func (a *app) compareWithMark() {
	if a.model.mark == 0 {
		a.say("mark a frame with m first")
		return
	}
	a.compare(a.model.mark, a.model.selected)
}
