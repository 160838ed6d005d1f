// Package findingpage lays out what client and agent broke on tapes, for a screen. A Reader
// judges the tapes of a timeline in the background, follows the one that is being recorded,
// and may be asked at any time by another goroutine. The package draws nothing.
package findingpage

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// A Reader judges the tapes of a timeline. Frames have the numbers of the timeline.
type Reader struct {
	label   func(seq uint64) string // of a frame's number
	session string                  // only what is of it, or of no session; empty: all
	changes func()                  // is called when there are more findings, and at the end

	// Of the goroutine that reads the tapes:
	timeline *frameindex.Timeline
	agent    *judge         // of the agent's tapes; nil: they cannot be judged
	servers  map[int]*judge // of tapes of servers, by their place
	follows  bool           // all that was there is judged

	mu       sync.Mutex // guards what follows
	findings []conform.Finding
	at       map[uint64][]int32                          // which findings are on a frame
	frames   [conform.Violation + 1]frameindex.NumberSet // that have findings of a strength
	tally    report.Tally
	unlisted map[string]int // by rule: how often it was broken beyond findings
	late     []uint64       // frames of which something was found when later ones were judged
	changed  chan struct{}  // closed when the reader has got further
	broken   bool
	stopped  bool // nothing is read any more
	revision
}

// A revision is how far a reader has got: as long as it is the same, so are the lines.
type revision struct {
	found  int
	beyond int    // the sum of unlisted
	ended  bool   // nothing will follow
	judged uint64 // frames up to this one; it is no part of what Revision returns while nothing is found
}

// maxShown is how many findings are shown; what a Checker keeps of each rule is bounded,
// but there are many rules and tapes.
const maxShown = 1 << 16

// NewReader returns a Reader that has read nothing. label returns the number of a frame as
// users know it; session is what is looked at, empty for whole tapes. onChange is called when
// there are more findings, and at the end.
func NewReader(label func(seq uint64) string, session string, onChange func()) *Reader {
	return &Reader{
		label: label, session: session, changes: onChange, servers: make(map[int]*judge),
		at: make(map[uint64][]int32), unlisted: make(map[string]int), changed: make(chan struct{}),
	}
}

// Begin makes the Reader a sink of a timeline.
func (r *Reader) Begin(ctx context.Context, t *frameindex.Timeline) {
	r.timeline = t
	var tapes []*record.Tape
	for _, p := range t.Agents() {
		tapes = append(tapes, p.Tape)
	}
	if options, err := tapecheck.Options(ctx, tapes...); err == nil {
		r.agent = r.newJudge(options, 0, tapes[0])
	} else {
		r.publish(func() { r.broken = true })
	}
}

// Take judges the next frame of the timeline.
func (r *Reader) Take(e *frameindex.Event) {
	switch {
	case e.Kind == reading.Looked:
		r.follows = true
		r.publish(func() {})
	case e.Err != nil && (e.Part == nil || !e.Part.IsServer() || e.Place >= 0):
		r.publish(func() { r.broken = true })
	case e.Place < 0 || r.agent == nil:
	case e.Part.IsServer():
		r.server(e).event(e)
	default:
		r.agent.event(e)
	}
}

// server returns the work on the tape of a server.
func (r *Reader) server(e *frameindex.Event) *judge {
	j := r.servers[e.Place]
	if j == nil {
		options, _ := tapecheck.Options(context.Background(), e.Part.Tape.Clone()) // reading the frames reports an error
		j = r.newJudge(options, e.Place, e.Part.Tape)
		r.servers[e.Place] = j
	}
	return j
}

// End says that nothing is read any more. ended reports whether all tapes have ended.
func (r *Reader) End(ended bool) {
	if ended && r.agent != nil {
		r.agent.end()
		for _, place := range slices.Sorted(maps.Keys(r.servers)) {
			r.servers[place].end()
		}
	}
	r.publish(func() { r.stopped, r.ended = true, ended })
	r.changes()
}

// publish changes what others read, and wakes those that wait for it.
func (r *Reader) publish(change func()) {
	r.mu.Lock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
}

// Revision says how far the reader has got: as long as it is the same, so are the lines.
func (r *Reader) Revision() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return [3]any{r.found, r.beyond, r.ended}
}

// Progress returns the last frame that was judged, and whether nothing will follow.
func (r *Reader) Progress() (last uint64, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.judged, r.ended
}

// Broken reports whether a part of the tapes cannot be read.
func (r *Reader) Broken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// Tally counts the findings by their strengths. A nil Reader has none.
func (r *Reader) Tally() report.Tally {
	if r == nil {
		return report.Tally{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tally
}

// Worst returns the greatest strength of the findings on the frames from one number up to
// another, that not included; None if there are none of at least that strength. A nil
// Reader has none.
func (r *Reader) Worst(from, to uint64, least conform.Strength) conform.Strength {
	if r == nil {
		return conform.None
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := conform.Violation; s >= least; s-- {
		if seq := r.frames[s].Next(from); seq != 0 && seq < to {
			return s
		}
	}
	return conform.None
}

// On returns the findings on a frame that are of at least a strength, the worst first. A
// nil Reader has none.
func (r *Reader) On(seq uint64, least conform.Strength) (list []conform.Finding) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.at[seq] {
		if f := r.findings[i]; f.Strength >= least {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b conform.Finding) int { return int(b.Strength) - int(a.Strength) })
	return list
}

// Next returns the nearest frame behind or before another that has a finding of at least a
// strength and is one of those that may be; 0 if there is none. A nil Reader has none.
func (r *Reader) Next(from uint64, forward bool, least conform.Strength, may func(seq uint64) bool) (nearest uint64) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := least; s <= conform.Violation; s++ {
		seq := from
		for {
			if forward {
				seq = r.frames[s].Next(seq + 1)
			} else {
				seq = r.frames[s].Previous(seq - 1)
			}
			if seq == 0 || may(seq) {
				break
			}
		}
		if nearest == 0 || seq != 0 && (seq < nearest) == forward {
			nearest = seq
		}
	}
	return nearest
}
