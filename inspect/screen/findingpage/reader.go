// Package findingpage lays out the findings on tapes: where client and agent broke their
// protocol. A Reader judges a timeline's tapes in the background and follows the one
// being recorded. Any goroutine may read its results. The package draws nothing.
package findingpage

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/record/reading"
)

// A Reader judges a timeline's tapes. Frames have their numbers on the timeline. The zero
// Reader has no findings.
type Reader struct {
	label   func(seq uint64) string // returns a frame's label
	session string                  // only its findings and those without a session count; empty: all
	changes func()                  // called when there are more findings, and at the end

	// Used only by the goroutine that reads the tapes:
	timeline *frameindex.Timeline
	agent    *judge         // for the agent's tapes; nil: they cannot be judged
	servers  map[int]*judge // for servers' tapes, by place
	follows  bool           // everything that was initially there has been judged

	mu       sync.Mutex // guards the fields below
	findings []conform.Finding
	at       map[uint64][]int32                          // indexes of a frame's findings
	frames   [conform.Violation + 1]frameindex.NumberSet // frames with findings, by strength
	tally    report.Tally
	unlisted map[string]int // by rule: violations that are not in findings
	late     []uint64       // frames that received a finding only when later ones were judged
	changed  chan struct{}  // closed whenever there is progress
	broken   bool
	stopped  bool // reading has stopped
	revision
}

// A revision identifies how far a reader has got. Equal revisions have equal lines.
type revision struct {
	found  int
	beyond int    // sum of unlisted
	ended  bool   // nothing will follow
	judged uint64 // last frame judged; not part of Revision
}

// maxShown limits the total number of findings. A Checker limits those of each rule, but
// there are many rules and tapes.
const maxShown = 1 << 16

// NewReader returns an empty Reader. label returns a frame's number as users know it;
// session limits the findings to one session, or is empty for whole tapes. onChange is
// called when there are more findings, and at the end.
func NewReader(label func(seq uint64) string, session string, onChange func()) *Reader {
	return &Reader{
		label: label, session: session, changes: onChange, servers: make(map[int]*judge),
		at: make(map[uint64][]int32), unlisted: make(map[string]int), changed: make(chan struct{}),
	}
}

// Begin implements frameindex.Sink.
func (r *Reader) Begin(_ context.Context, t *frameindex.Timeline) {
	r.timeline = t
	var agents []reading.Part
	for _, p := range t.Agents() {
		agents = append(agents, p.Part)
	}
	r.agent = r.newJudge(0, agents...)
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

// server returns the judge for a server's tape.
func (r *Reader) server(e *frameindex.Event) *judge {
	j := r.servers[e.Place]
	if j == nil {
		tape := *e.Part
		if info, err := tape.Tape.Clone().Info(); err == nil {
			tape.Info = info // little was known about a tape that had just begun
		}
		j = r.newJudge(e.Place, tape)
		r.servers[e.Place] = j
	}
	return j
}

// End marks the end of reading. ended reports whether all tapes have ended.
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

// publish changes shared fields under the lock and wakes waiting goroutines.
func (r *Reader) publish(change func()) {
	r.mu.Lock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
}

// Revision identifies how far the reader has got. Equal revisions have equal lines.
func (r *Reader) Revision() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return [3]any{r.found, r.beyond, r.ended}
}

// Progress returns the last frame judged, whether nothing will follow, and whether part
// of the tapes cannot be read.
func (r *Reader) Progress() (last uint64, ended, broken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.judged, r.ended, r.broken
}

// Tally counts the findings by strength.
func (r *Reader) Tally() report.Tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tally
}

// Worst returns the greatest strength among the findings on the frames in [from, to), or
// None if all are weaker than least.
func (r *Reader) Worst(from, to uint64, least conform.Strength) conform.Strength {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := conform.Violation; s >= least; s-- {
		if seq := r.frames[s].Next(from); seq != 0 && seq < to {
			return s
		}
	}
	return conform.None
}

// On returns the findings on a frame that are at least as strong as least, worst first.
func (r *Reader) On(seq uint64, least conform.Strength) (list []conform.Finding) {
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

// Next returns the nearest frame after or before from that may accepts and that has a
// finding at least as strong as least, or 0 if there is none.
func (r *Reader) Next(from uint64, forward bool, least conform.Strength, may func(seq uint64) bool) (nearest uint64) {
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
