package findingpage

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frameindex"
	"github.com/acptap/acptap/proxy/dialect"
)

// A judge is the work on a timeline. To the checker frames have the numbers of their tape.
type judge struct {
	*Reader
	checker  *conform.Checker
	timeline *frameindex.Timeline
	onChange func()
	counted  map[string]int // what of the present tape is in unlisted, by rule
}

// publishEvery is after how many frames those are woken who wait for the reader.
const publishEvery = 1 << 10

// part judges a part of the timeline: what is there, and of the last one what comes.
func (j *judge) part(ctx context.Context, i int) {
	p, isLast := &j.timeline.Parts[i], i == len(j.timeline.Parts)-1
	j.counted = make(map[string]int)
	last := uint64(0)
	for f, err := range p.Tape.Frames(1) {
		if ctx.Err() != nil {
			return
		}
		if err == nil && !isLast && f.Seq > p.Info.Lines { // recorded since the numbers were given
			break
		}
		if j.frame(p, &f, err); err == nil {
			last = max(last, f.Seq)
		}
		if f.Seq%publishEvery == 0 {
			j.publish(func() {})
		}
	}
	j.count()
	j.publish(func() {})
	if !isLast {
		return
	}
	for f, err := range p.Tape.Follow(ctx, last+1) {
		if ctx.Err() != nil {
			return
		}
		j.frame(p, &f, err)
		if f.Seq%publishEvery == 0 {
			j.count()
		}
		j.publish(func() {})
	}
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

// frame judges a frame of a part.
func (j *judge) frame(p *frameindex.Part, f *dialect.Frame, err error) {
	if err != nil {
		j.publish(func() { j.broken = true })
		return
	}
	j.checker.Add(f)
	if j.take(p.Before + f.Seq) {
		j.onChange()
	}
}

// take takes in what was found since it did last, and reports whether that is anything. seq
// is the frame that was judged last, 0 at the end of all.
func (j *judge) take(seq uint64) bool {
	r := j.Reader
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judged = max(r.judged, seq)
	all := j.checker.Findings()
	found := all[r.found:]
	r.found = len(all)
	for _, f := range found {
		if r.session != "" && f.Session != "" && f.Session != r.session {
			continue
		}
		if len(r.findings) == maxShown {
			r.unlist(f.Rule.ID, 1)
			continue
		}
		before := j.timeline.Parts[f.Tape].Before
		if len(j.timeline.Parts) > 1 {
			f.Text = relabelled(f.Text, func(seq uint64) string { return r.label(before + seq) })
		}
		f.Because = slices.Clone(f.Because)
		for i := range f.Because {
			f.Because[i] += before
		}
		if f.Seq != 0 {
			f.Seq += before
			if f.Seq != seq {
				r.late = append(r.late, f.Seq)
			}
			r.at[f.Seq] = append(r.at[f.Seq], int32(len(r.findings)))
			r.frames[f.Strength].Add(f.Seq)
		}
		r.findings = append(r.findings, f)
		r.counts[f.Strength]++
	}
	return len(found) > 0
}

// named finds the frames that a text names, as in conform.Evidence.
var named = regexp.MustCompile(`\bframe [0-9]+`)

// relabelled returns a text with the frames that it names as users know them.
func relabelled(text string, label func(seq uint64) string) string {
	return named.ReplaceAllStringFunc(text, func(name string) string {
		seq, err := strconv.ParseUint(strings.TrimPrefix(name, "frame "), 10, 64)
		if err != nil {
			return name
		}
		return "frame " + label(seq)
	})
}
