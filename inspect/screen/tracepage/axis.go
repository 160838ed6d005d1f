package tracepage

import (
	"strings"
	"time"

	"github.com/acptap/acptap/record/trace/steps"
)

// An axis maps times to columns. Times outside all its parts are cut out and have no
// column.
type axis struct {
	columns int
	parts   []axisPart
	step    time.Duration // between ticks
	zero    time.Duration // the ticks count from here
}

// An axisPart is an interval drawn in some columns. One column separates it from the
// next.
type axisPart struct {
	steps.Span
	column, width int
}

// newAxis returns an axis for busy intervals. The time between them is cut out, unless it
// is shorter than the cut would be.
func newAxis(busy []steps.Span, columns int) *axis {
	a := &axis{columns: columns}
	busy = steps.Join(busy, 0)
	for range 2 { // keeping a gap makes the total longer, so that other gaps may stay too
		busy = steps.Join(busy, steps.Length(busy)/time.Duration(max(columns/2, 1)))
	}
	for _, b := range busy {
		a.parts = append(a.parts, axisPart{Span: b, width: 1})
	}
	if len(a.parts) == 0 {
		return a
	}
	cuts := len(a.parts) - 1
	if scale := a.spread(columns - cuts); scale > 0 {
		a.step = steps.RoundTime(time.Duration(min(tickColumns/scale, 1<<62))) // at most what a Duration holds
	}
	at := 0
	for i := range a.parts {
		a.parts[i].column = min(at, columns-1)
		at += a.parts[i].width + 1
	}
	return a
}

// spread divides the columns among the parts, at least one for each, and returns the
// number of columns per nanosecond.
func (a *axis) spread(columns int) (scale float64) {
	rest, time := max(columns, len(a.parts)), float64(0)
	for _, p := range a.parts {
		time += float64(p.To - p.From)
	}
	small := make([]bool, len(a.parts)) // parts with a single column
	for again := true; again; {
		again = false
		if scale = 0; time > 0 {
			scale = float64(rest) / time
		}
		for i, p := range a.parts {
			if took := float64(p.To - p.From); !small[i] && took*scale < 1 {
				small[i], again = true, true
				rest, time = rest-1, time-took
			}
		}
	}
	used, before := 0, float64(0)
	for i, p := range a.parts {
		if small[i] {
			continue
		}
		before += float64(p.To-p.From) * scale
		a.parts[i].width = max(int(before+0.5)-used, 1)
		used += a.parts[i].width
	}
	return scale
}

// part returns the part that contains t; failing that, the next one on its tape; failing
// that, the last. It returns -1 if the tape has none.
func (a *axis) part(run int, t time.Duration) int {
	last := -1
	for i := range a.parts {
		if p := &a.parts[i]; p.Run == run {
			if last = i; t <= p.To {
				break
			}
		}
	}
	return last
}

// column returns a time's column.
func (a *axis) column(run int, t time.Duration) int {
	i := a.part(run, t)
	if i < 0 {
		return 0
	}
	p := &a.parts[i]
	at := 0
	if p.To > p.From {
		at = int(float64(t-p.From) / float64(p.To-p.From) * float64(p.width))
	}
	return min(p.column+min(max(at, 0), p.width-1), a.columns-1)
}

// has reports whether any part of an interval has columns of its own.
func (a *axis) has(of steps.Span) bool {
	for i := range a.parts {
		if p := &a.parts[i]; p.Run == of.Run && of.From <= p.To && of.To >= p.From {
			return true
		}
	}
	return false
}

// tickColumns is the smallest distance between two ticks.
const tickColumns = 8

// heading returns the line above the rows: ticks with their times, and cutSign where time
// is cut out.
func (a *axis) heading() string {
	line := []rune(strings.Repeat(" ", a.columns))
	if len(a.parts) == 0 {
		return string(line) // no time is known
	}
	for _, p := range a.parts[1:] {
		line[max(p.column-1, 0)] = cutSign
	}
	free := 0 // the first column that is no label, nor next to one
	for i, p := range a.parts {
		end := a.columns
		if i+1 < len(a.parts) {
			end = a.parts[i+1].column - 1
		}
		for t := p.From; p.From <= t && t <= p.To; t = a.zero + (t - a.zero).Truncate(a.step) + a.step {
			at := a.column(p.Run, t)
			label := []rune("│" + steps.TickText(t-a.zero, a.step))
			if at >= free && at+len(label) <= end {
				copy(line[at:], label)
				free = at + len(label) + 1
			}
			if a.step <= 0 {
				break
			}
		}
	}
	return string(line)
}

// cutSign marks where time is cut out.
const cutSign = '╱'
