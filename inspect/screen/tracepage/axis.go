package tracepage

import (
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/steps"
)

// An axis maps times to columns. Times outside all of its parts are cut out and have no
// column.
type axis struct {
	columns int
	parts   []axisPart
	step    time.Duration // between ticks
}

// An axisPart is an interval drawn in some columns. One column separates it from the next.
type axisPart struct {
	steps.Span
	column, width int
}

// newAxis returns an axis for busy intervals. The time between them is cut out, unless it
// is shorter than the cut would be.
func newAxis(busy []steps.Span, columns int) *axis {
	a := &axis{columns: columns}
	busy = steps.Join(busy, 0)
	for range 2 { // a gap that stays makes the whole longer, so that others may stay too
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
		a.step = steps.RoundTime(time.Duration(tickColumns / scale))
	}
	at := 0
	for i := range a.parts {
		a.parts[i].column = min(at, columns-1)
		at += a.parts[i].width + 1
	}
	return a
}

// spread divides the columns among the parts, at least one for each, and returns the number
// of columns per nanosecond.
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

// part returns the part that contains t, or else the next one of its tape, or else the
// last; -1 if the tape has none.
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

// column returns the column of a time.
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
	free := 0 // the first column without a label
	for i, p := range a.parts {
		end := a.columns
		if i+1 < len(a.parts) {
			end = a.parts[i+1].column - 1
		}
		for t := p.From; t <= p.To; t = t.Truncate(a.step) + a.step {
			at := a.column(p.Run, t)
			label := []rune("│" + tickLabel(t, a.step))
			if at >= free && at+len(label) <= end {
				copy(line[at:], label)
				free = at + len(label)
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

// tickLabel returns a time since the tape began, as precise as the step requires.
func tickLabel(t, step time.Duration) string {
	digits := 0
	for unit := time.Second; step > 0 && step < unit && digits < 6; unit /= 10 {
		digits++
	}
	switch {
	case t < time.Second && step < time.Second && step >= time.Millisecond:
		return fmt.Sprintf("%d ms", t.Milliseconds())
	case t < time.Millisecond && step < time.Millisecond:
		return fmt.Sprintf("%d µs", t.Microseconds())
	case t < time.Second && step < time.Millisecond:
		return fmt.Sprintf("%.*f ms", digits-3, float64(t)/float64(time.Millisecond))
	case t < time.Minute:
		return fmt.Sprintf("%.*f s", digits, t.Seconds())
	}
	return termtext.Duration(t.Truncate(time.Second))
}
