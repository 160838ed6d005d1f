package findingpage

import (
	"context"
	"maps"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
)

// Findings returns the known findings on a frame, of all strengths.
func (r *Reader) Findings(seq uint64) (list []*conform.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.at[seq] {
		list = append(list, &r.findings[i])
	}
	return list
}

// Await blocks until a frame and all earlier ones have been judged, or nothing will
// follow. It returns false if ctx or the context of the timeline's Feed is done first.
func (r *Reader) Await(ctx context.Context, seq uint64) bool {
	return r.until(ctx, func() bool { return r.judged >= seq })
}

// Late returns the frames, skipping the first n, that received a finding only when later
// frames were judged, such as a request that was never answered. It blocks until there is
// one, and returns none if nothing will follow or a context is done.
func (r *Reader) Late(ctx context.Context, n int) (frames []uint64) {
	r.until(ctx, func() bool {
		frames = r.late[n:]
		return len(frames) > 0
	})
	return frames
}

// until blocks until so returns true or nothing will follow. It returns false if a
// context is done first.
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

// Rules returns the IDs of the rules with findings.
func (r *Reader) Rules() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make(map[string]bool)
	for i := range r.findings {
		ids[r.findings[i].Rule.ID] = true
	}
	return slices.Sorted(maps.Keys(ids))
}
