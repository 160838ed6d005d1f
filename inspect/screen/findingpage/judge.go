package findingpage

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// A judge is the work on the agent's tapes of a timeline, or on the tape of a server. To the
// checker frames have the numbers of their tape.
type judge struct {
	*Reader
	checker *conform.Checker
	stalls  tapecheck.Stalls
	first   int            // place of the checker's first tape
	taken   int            // findings of the checker
	counted map[string]int // what of the present tape is in unlisted, by rule
	over    bool
}

// publishEvery is after how many frames those are woken who wait for the reader, while it reads
// what is there.
const publishEvery = 1 << 10

// newJudge returns the work on tapes, of which the one at a place is the first.
func (r *Reader) newJudge(o conform.Options, place int, tape *record.Tape) *judge {
	j := &judge{Reader: r, checker: conform.NewChecker(o), first: place, counted: make(map[string]int)}
	j.stalls.Start(tape.Clone(), 0)
	return j
}

// event takes what comes next on the tapes.
func (j *judge) event(e *frameindex.Event) {
	switch e.Kind {
	case reading.Begins:
		if e.Place > j.first {
			j.take(0, j.stalls.End()...)
			j.count()
			j.checker.Next(tapecheck.Beginning(&e.Part.Info))
			j.counted = make(map[string]int)
			j.stalls.Start(e.Part.Tape.Clone(), e.Place-j.first)
		}
	case reading.Read:
		if j.checker.Add(&e.Frame); j.take(e.Number, j.stalls.Frame(&e.Frame)...) {
			j.changes()
		}
		due := e.Frame.Seq%publishEvery == 0
		if due {
			j.count()
		}
		if due || j.follows {
			j.publish(func() {})
		}
	case reading.Ends:
		if j.count(); e.Part.IsServer() || e.Place == len(j.timeline.Agents())-1 {
			j.end()
		}
	}
}

// end says that no frame follows.
func (j *judge) end() {
	if j.over {
		return
	}
	j.over = true
	j.checker.End()
	if j.take(0, j.stalls.End()...) {
		j.changes()
	}
	j.count()
	j.publish(func() {})
}

// count notes how often rules are broken beyond the findings that the checker keeps.
func (j *judge) count() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, v := range j.checker.Verdicts() {
		j.unlist(v.Rule.ID, v.Lost-j.counted[v.Rule.ID])
		j.counted[v.Rule.ID] = v.Lost
	}
}

// unlist notes that a rule is broken that many times more. The lock is held.
func (r *Reader) unlist(rule string, times int) {
	if times > 0 {
		r.unlisted[rule] += times
		r.beyond += times
	}
}

// take takes in what the checker has found since, and what has hung, and reports whether that
// is anything. seq is the frame that was judged last, 0 at the end of a tape.
func (j *judge) take(seq uint64, hung ...conform.Finding) bool {
	r := j.Reader
	r.mu.Lock()
	defer r.mu.Unlock()
	passed := r.judged > seq // frames of other tapes that have greater numbers may come first
	r.judged = max(r.judged, seq)
	all := j.checker.Findings()
	found := slices.Concat(all[j.taken:], hung)
	j.taken = len(all)
	r.found += len(found)
	for _, f := range found {
		if r.session != "" && f.Session != "" && f.Session != r.session {
			continue
		}
		if len(r.findings) == maxShown {
			r.unlist(f.Rule.ID, 1)
			continue
		}
		number := func(seq uint64) uint64 { return j.timeline.Number(frameindex.Place{Part: j.first + f.Tape, Seq: seq}) }
		if j.timeline.Size() > 1 {
			f.Text = relabelled(f.Text, func(seq uint64) string { return r.label(number(seq)) })
		}
		f.Because = slices.Clone(f.Because)
		for i := range f.Because {
			f.Because[i] = number(f.Because[i])
		}
		if f.Seq != 0 {
			f.Seq = number(f.Seq)
			if f.Seq != seq || passed {
				r.late = append(r.late, f.Seq)
			}
			r.at[f.Seq] = append(r.at[f.Seq], int32(len(r.findings)))
			r.frames[f.Strength].Add(f.Seq)
		}
		r.findings = append(r.findings, f)
		r.tally[f.Strength]++
	}
	return len(found) > 0
}

// named finds the frames that a text names, as in conform.Evidence.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bframe [0-9]+`) })

// relabelled returns a text with the frames that it names as users know them.
func relabelled(text string, label func(seq uint64) string) string {
	return named().ReplaceAllStringFunc(text, func(name string) string {
		seq, err := strconv.ParseUint(strings.TrimPrefix(name, "frame "), 10, 64)
		if err != nil {
			return name
		}
		return "frame " + label(seq)
	})
}
