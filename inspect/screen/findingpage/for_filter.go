package findingpage

import (
	"context"
	"maps"
	"slices"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/tapecheck"
)

// Findings returns the findings on a frame, of all strengths, as far as they are known, in
// the form in which a filter asks for them.
func (r *Reader) Findings(seq uint64) (list []filter.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.at[seq] {
		list = append(list, tapecheck.ForFilter(&r.findings[i]))
	}
	return list
}

// Await blocks until a frame and all before it have been judged, or nothing will follow. It
// returns false if ctx or the context of the timeline's Feed is done first.
func (r *Reader) Await(ctx context.Context, seq uint64) bool {
	return r.until(ctx, func() bool { return r.judged >= seq })
}

// Late returns the frames, without the first n, that got a finding only when later frames
// were judged, such as a request that was never answered. It blocks until there is one, and
// returns none if nothing will follow or a context is done.
func (r *Reader) Late(ctx context.Context, n int) (frames []uint64) {
	r.until(ctx, func() bool {
		frames = r.late[n:]
		return len(frames) > 0
	})
	return frames
}

// until blocks until so returns true, or nothing will follow. It returns false if a context
// is done first.
func (r *Reader) until(ctx context.Context, so func() bool) bool {
	for {
		r.mu.Lock()
		done, stopped, changed := so() || r.ended, r.stopped, r.changed
		r.mu.Unlock()
		if done || stopped {
			return done
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// Rules returns the IDs of the rules with findings. A nil Reader has none.
func (r *Reader) Rules() []string {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make(map[string]bool)
	for i := range r.findings {
		ids[r.findings[i].Rule.ID] = true
	}
	return slices.Sorted(maps.Keys(ids))
}
