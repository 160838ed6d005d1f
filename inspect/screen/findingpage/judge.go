package findingpage

import (
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/reading"
)

// A judge checks the agent's tapes on a timeline, or one server's tape. The Judge sees
// frames with the numbers on their own tape.
type judge struct {
	*Reader
	judge   *tapecheck.Judge
	first   int            // position of the judge's first tape on the timeline
	counted map[string]int // what the current tape has added to unlisted, by rule
	over    bool
}

// publishEvery is the number of frames after which waiting goroutines are woken while the
// reader reads what was initially there.
const publishEvery = 1 << 10

// newJudge returns a judge of tapes, the first of which is at place.
func (r *Reader) newJudge(place int, tapes ...reading.Part) *judge {
	j := &judge{Reader: r, judge: tapecheck.NewJudge(tapecheck.Options(tapes...)), first: place}
	j.begin(&tapes[0])
	return j
}

// begin begins the next tape.
func (j *judge) begin(p *reading.Part) {
	j.fail(j.judge.Begin(p))
	j.counted = make(map[string]int)
}

// event handles the tapes' next event.
func (j *judge) event(e *frameindex.Event) {
	switch e.Kind {
	case reading.Begins:
		if e.Place > j.first {
			j.endTape()
			j.begin(e.Part)
		}
	case reading.Read:
		if j.judge.Add(&e.Frame); j.take(e.Number) {
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

// end marks the end of the last tape.
func (j *judge) end() {
	if j.over {
		return
	}
	j.over = true
	j.endTape()
	j.publish(func() {})
}

// endTape marks the end of a tape.
func (j *judge) endTape() {
	j.fail(j.judge.End())
	if j.take(0) {
		j.changes()
	}
	j.count()
}

// fail records that something could not be read.
func (j *judge) fail(err error) {
	if err != nil {
		j.publish(func() { j.broken = true })
	}
}

// count adds the violations that the judge counts without keeping them as findings.
func (j *judge) count() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, v := range j.judge.Checker.Verdicts() {
		j.unlist(v.Rule.ID, v.Lost-j.counted[v.Rule.ID])
		j.counted[v.Rule.ID] = v.Lost
	}
}

// unlist counts further violations of a rule. The caller holds the lock.
func (r *Reader) unlist(rule string, times int) {
	if times > 0 {
		r.unlisted[rule] += times
		r.beyond += times
	}
}

// take adds the new findings, and reports whether there are any. seq is the last frame
// judged, or 0 at the end of a tape.
func (j *judge) take(seq uint64) bool {
	r := j.Reader
	r.mu.Lock()
	defer r.mu.Unlock()
	passed := r.judged > seq // frames on other tapes with greater numbers may come first
	r.judged = max(r.judged, seq)
	found := j.judge.New()
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

// named matches the frames that a text names in the form of conform.Evidence.
var named = lazyregexp.New(`\bframe [0-9]+`)

// relabelled replaces the frame numbers in a text with the labels that users see.
func relabelled(text string, label func(seq uint64) string) string {
	return named().ReplaceAllStringFunc(text, func(name string) string {
		seq, err := strconv.ParseUint(strings.TrimPrefix(name, "frame "), 10, 64)
		if err != nil {
			return name
		}
		return "frame " + label(seq)
	})
}
