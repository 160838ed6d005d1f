package rule

import (
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// maxKept limits the postponed frames, in bytes. Beyond it all of them go.
const maxKept = 32 << 20

// A held is a postponed frame.
type held struct {
	frame   wire.Frame
	session string
	rule    *Rule
	left    int         // frames of its direction that may still overtake it; 0: the timer counts
	timer   *time.Timer // nil: left counts
	due     time.Duration
	fresh   bool // it is the frame that is passing
}

// keep keeps a frame until others have passed, or for a time.
func (e *Engine) keep(h *held, wait time.Duration) {
	h.fresh = true
	e.postponed = append(e.postponed, h)
	e.kept += len(h.frame.Raw)
	if wait > 0 && e.handle.Do != nil {
		do := e.handle.Do
		h.due = e.now() + wait
		h.timer = time.AfterFunc(wait, func() {
			do(func(out []wire.Frame) []wire.Frame {
				return e.release(out, func(o *held) bool { return o.timer != nil && o.due <= h.due })
			})
		})
	}
}

// advance counts a frame that has passed, and lets those go that have waited long enough.
func (e *Engine) advance(dir wire.Direction, out []wire.Frame) []wire.Frame {
	if len(e.postponed) == 0 {
		return out
	}
	due := false
	for _, h := range e.postponed {
		if h.frame.Dir != dir || h.left == 0 {
			h.fresh = false
			continue
		}
		if h.fresh {
			h.fresh = false
			continue
		}
		if h.left--; h.left == 0 {
			h.left = -1
			due = true
		}
	}
	if e.kept > maxKept {
		out = append(out, note(dir, "rules", fmt.Sprintf("%d postponed frames have more than %d MiB, and all go now", len(e.postponed), maxKept>>20), 0))
		return e.release(out, func(*held) bool { return true })
	}
	if due {
		out = e.release(out, func(h *held) bool { return h.left < 0 })
	}
	return out
}

// release sends postponed frames, in the order in which they came.
func (e *Engine) release(out []wire.Frame, goes func(*held) bool) []wire.Frame {
	from := len(out)
	e.postponed = slices.DeleteFunc(e.postponed, func(h *held) bool {
		if !goes(h) {
			return false
		}
		if h.timer != nil {
			h.timer.Stop()
		}
		e.kept -= len(h.frame.Raw)
		f := h.frame
		if f.Origin != wire.Injected {
			f.Origin = wire.Rewritten
		}
		if e.desk.queue(e, f.Dir, h.session) != nil {
			w := &waiting{frame: f, came: h.frame, call: e.calls}
			w.held.Kind = wire.Scan(f.Raw).MessageKind()
			out = append(out, withoutFrames(e.desk.keep(e, h.session, w)))
			return true
		}
		out = append(out, note(f.Dir, h.rule.Name, "let go", lines(f.Raw)), f)
		return true
	})
	return append(out[:from], e.unstalled(out[from:])...)
}

// Held returns the frames that are postponed or wait for a user. The proxy calls it when
// the Engine has panicked.
func (e *Engine) Held() (frames []wire.Frame) {
	for _, h := range e.postponed {
		if !h.fresh {
			frames = append(frames, h.frame)
		}
	}
	return append(frames, e.desk.held(e)...)
}
