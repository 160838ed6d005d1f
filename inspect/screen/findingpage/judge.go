package findingpage

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/proxy/dialect"
)

// A judge is the work on the agent's tapes of a timeline, or on the tape of a server. To the
// checker frames have the numbers of their tape.
type judge struct {
	*Reader
	checker  *conform.Checker
	stalls   tapecheck.Stalls
	timeline *frameindex.Timeline
	first    int // part of the timeline that is the checker's first tape
	onChange func()
	taken    int            // findings of the checker
	counted  map[string]int // what of the present tape is in unlisted, by rule
}

// publishEvery is after how many frames those are woken who wait for the reader.
const publishEvery = 1 << 10

// begin begins the next tape.
func (j *judge) begin(part int) {
	if part > j.first {
		j.take(0, j.stalls.End()...)
		j.checker.Next(tapecheck.Beginning(&j.timeline.Part(part).Info))
	}
	j.stalls.Start(j.timeline.Tape(part), part-j.first)
	j.counted = make(map[string]int)
}

// add judges a frame, which has a number on the timeline, and reports whether anything was
// found.
func (j *judge) add(f *dialect.Frame, number uint64) bool {
	j.checker.Add(f)
	return j.take(number, j.stalls.Frame(f)...)
}

// end says that no frame follows, unless ctx is done.
func (j *judge) end(ctx context.Context) {
	if ctx.Err() == nil {
		j.checker.End()
		j.take(0, j.stalls.End()...)
		j.count()
	}
}

// together judges the agent's tapes and those of its servers, in the order of the timeline.
func (j *judge) together(ctx context.Context) {
	part, servers := -1, map[int]*judge{} // part is of the agent's tapes
	for l := range j.timeline.FollowAll(ctx) {
		if l.Err != nil {
			j.publish(func() { j.broken = true })
			continue
		}
		of := j
		switch {
		case l.Part >= len(j.timeline.Agents()):
			if of = servers[l.Part]; of == nil {
				of = j.server(ctx, l.Part)
				servers[l.Part] = of
			}
		case l.Part != part:
			part = l.Part
			j.begin(part)
		}
		if of.add(&l.Frame, l.Number) {
			j.onChange()
		}
		if l.Number%publishEvery == 0 {
			of.count()
		}
		j.publish(func() {})
	}
	j.end(ctx)
	for _, part := range slices.Sorted(maps.Keys(servers)) {
		servers[part].end(ctx)
	}
}

// server returns the work on the tape of a server. If that cannot be read, reading its
// frames reports it.
func (j *judge) server(ctx context.Context, part int) *judge {
	options, _ := tapecheck.Options(ctx, j.timeline.Tape(part))
	of := *j
	of.checker, of.first, of.taken = conform.NewChecker(options), part, 0
	of.begin(part)
	return &of
}

// part judges a part of the timeline: what is there, and of the last one what comes.
func (j *judge) part(ctx context.Context, i int) {
	p := j.timeline.Part(i)
	isLast := p == j.timeline.Latest()
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
	if j.add(f, p.Before+f.Seq) {
		j.onChange()
	}
}

// take takes in what the checker has found since, and what has hung, and reports whether that
// is anything. seq is the frame that was judged last, 0 at the end of a tape.
func (j *judge) take(seq uint64, hung ...conform.Finding) bool {
	r := j.Reader
	r.mu.Lock()
	defer r.mu.Unlock()
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
			if f.Seq != seq {
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
