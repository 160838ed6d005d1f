package findingpage

import (
	"context"
	"maps"
	"slices"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/tapecheck"
)

// Findings returns what a filter can ask of the findings on a frame, of all strengths, as
// far as they are known.
func (r *Reader) Findings(seq uint64) (list []filter.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.at[seq] {
		list = append(list, tapecheck.ForFilter(&r.findings[i]))
	}
	return list
}

// Await waits until a frame and all before it are judged, or nothing will follow. It
// reports whether neither ctx nor that of Read was done before.
func (r *Reader) Await(ctx context.Context, seq uint64) bool {
	return r.until(ctx, func() bool { return r.judged >= seq })
}

// Late returns the frames of which something was found when later ones had been judged,
// such as a request that was never answered, but for the first n. It waits until there are
// some; there are none if nothing will follow, or ctx or that of Read is done.
func (r *Reader) Late(ctx context.Context, n int) (frames []uint64) {
	r.until(ctx, func() bool {
		frames = r.late[n:]
		return len(frames) > 0
	})
	return frames
}

// until waits until something is so, or nothing will follow. It reports whether neither ctx
// nor that of Read was done before.
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

// Rules returns the ids of the rules of which there are findings. A nil Reader has none.
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
