package rule

import (
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// maxKept limits the bytes of postponed frames. Past it, or past maxHeldFrames, all of them
// are released.
const maxKept = 32 << 20

// A held is a postponed frame.
type held struct {
	*waiting
	session string
	rule    *Rule
	left    int           // number of frames of its direction that may still overtake it, if due is 0
	due     time.Duration // when it is released
}

// A postponement is everything that an Engine has postponed.
type postponement struct {
	frames   []*held // of all rules, oldest first
	bytes    int
	counting [2]int        // by direction: number of frames waiting for others to pass
	timer    *time.Timer   // fires at due
	due      time.Duration // the earliest due time; 0: none
}

// keep postpones a frame until others have passed, or by wait if that is not 0.
func (e *Engine) keep(h *held, wait time.Duration) {
	late := &e.postponed
	late.frames = append(late.frames, h)
	late.bytes += h.size()
	if wait == 0 {
		late.counting[h.frame.Dir]++
		return
	}
	h.due = e.now() + wait
	if late.due == 0 || h.due < late.due {
		e.wake(h.due)
	}
}

// wake sets the timer for due.
func (e *Engine) wake(due time.Duration) {
	late := &e.postponed
	if late.timer != nil {
		late.timer.Stop()
		late.timer = nil
	}
	if late.due = due; due > 0 && e.handle.Do != nil {
		late.timer = time.AfterFunc(due-e.now(), func() {
			e.handle.Do(func(out []wire.Frame) []wire.Frame {
				now := e.now()
				return e.release(out, func(h *held) bool { return h.due > 0 && h.due <= now })
			})
		})
	}
}

// advance counts a frame that has passed, and releases the frames that have waited long
// enough.
func (e *Engine) advance(dir wire.Direction, out []wire.Frame) []wire.Frame {
	late := &e.postponed
	switch {
	case len(late.frames) > maxHeldFrames || late.bytes > maxKept:
		did := fmt.Sprintf("more than %d frames or %d MiB are postponed, and all go now", maxHeldFrames, maxKept>>20)
		out = append(out, note(dir, "rules", did, 0))
		return e.release(out, func(*held) bool { return true })
	case dir == wire.AgentStderr || late.counting[dir] == 0:
		return out
	}
	over := false
	for _, h := range late.frames {
		if h.due == 0 && h.frame.Dir == dir && h.call < e.calls-1 { // skip the frame that is passing now
			h.left--
			over = over || h.left == 0
		}
	}
	if over {
		out = e.release(out, func(h *held) bool { return h.due == 0 && h.left == 0 })
	}
	return out
}

// release sends the postponed frames for which goes returns true, oldest first.
func (e *Engine) release(out []wire.Frame, goes func(*held) bool) []wire.Frame {
	late := &e.postponed
	from, due := len(out), time.Duration(0)
	late.frames = slices.DeleteFunc(late.frames, func(h *held) bool {
		if !goes(h) {
			if h.due > 0 && (due == 0 || h.due < due) {
				due = h.due
			}
			return false
		}
		late.bytes -= h.size()
		if h.due == 0 {
			late.counting[h.frame.Dir]--
		}
		f := h.frame
		if e.desk.queue(e, f.Dir, h.session) != nil {
			out = append(out, withoutFrames(e.desk.keep(e, h.session, h.waiting)))
			return true
		}
		if f.Origin != wire.Injected {
			f.Origin = wire.Rewritten
		}
		out = append(out, note(f.Dir, h.rule.Name, "let go", lines(f.Raw)), f)
		out = h.copies.append(out, f)
		return true
	})
	e.wake(due)
	return append(out[:from], e.unstalled(out[from:])...)
}

// Held returns the frames that are postponed or wait for a user. The proxy calls it after the
// Engine has panicked.
func (e *Engine) Held() (frames []wire.Frame) {
	for _, h := range e.postponed.frames {
		if h.call < e.calls && h.came.Raw != nil {
			frames = append(frames, h.came)
		}
	}
	return append(frames, e.desk.held(e)...)
}
