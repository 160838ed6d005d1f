package report

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/acptap/acptap/record/termtext"
)

// A span is a time on one of the tapes.
type span struct {
	run      int
	from, to time.Duration // since that tape began
}

// An axis lays times out from 0 to 100 percent of a width. Of the time between its parts
// nothing is left but a gap.
type axis struct{ parts []axisPart }

type axisPart struct {
	span
	x, width float64 // percent
}

// newAxis returns an axis that has room for spans. Those that touch, or are less than idle
// apart, become one part.
func newAxis(spans []span, idle time.Duration) *axis {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.from, b.from)) })
	var a axis
	var busy time.Duration
	for _, s := range spans {
		s.to = max(s.to, s.from)
		if n := len(a.parts); n > 0 {
			if last := &a.parts[n-1]; last.run == s.run && s.from <= last.to+idle {
				busy += max(s.to-last.to, 0)
				last.to = max(last.to, s.to)
				continue
			}
		}
		busy += s.to - s.from
		a.parts = append(a.parts, axisPart{span: s})
	}
	gap := 0.0
	if n := len(a.parts); n > 1 {
		gap = min(1, 20/float64(n))
	}
	room, x := 100-gap*float64(len(a.parts)-1), 0.0
	for i := range a.parts {
		p := &a.parts[i]
		p.x, p.width = x, room/float64(len(a.parts))
		if busy > 0 {
			p.width = room * float64(p.to-p.from) / float64(busy)
		}
		x += p.width + gap
	}
	return &a
}

// at returns where a time is.
func (a *axis) at(run int, t time.Duration) float64 {
	i, _ := slices.BinarySearchFunc(a.parts, t, func(p axisPart, t time.Duration) int {
		if c := cmp.Compare(p.run, run); c != 0 {
			return c
		}
		if p.from <= t {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0
	}
	p := &a.parts[i-1] // the last one that begins no later
	switch {
	case p.run < run || t > p.to:
		return p.x + p.width
	case p.to == p.from:
		return p.x
	}
	return p.x + p.width*float64(t-p.from)/float64(p.to-p.from)
}

// A rect is a part of a bar: where it is, and what it is drawn as.
type rect struct {
	X, Width string // percent, or pixels of what is too short to be seen
	Class    string
}

// thinnest is how many percent wide a bar is at least; what is shorter is a mark.
const thinnest = 0.25

// rect returns what shows a span.
func (a *axis) rect(s span, class string) rect {
	from, to := a.at(s.run, s.from), a.at(s.run, s.to)
	if to-from < thinnest {
		return rect{percent(min(from, 100-thinnest)), "2", class}
	}
	return rect{percent(from), percent(to - from), class}
}

func percent(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }

// A tick is a time on an axis.
type tick struct {
	X, Anchor, Text string
}

// ticks returns three to five round times of an axis of one part, since its beginning.
func (a *axis) ticks() []tick {
	if len(a.parts) != 1 || a.parts[0].to == a.parts[0].from {
		return nil
	}
	length := a.parts[0].to - a.parts[0].from
	step := time.Microsecond
	for i := 0; length/step > 4; i++ {
		step = roundTime(i)
	}
	list := []tick{{"0%", "start", "0 s"}}
	for n := time.Duration(1); n <= length/step; n++ {
		t := n * step
		x := 100 * float64(t) / float64(length)
		anchor := "middle"
		if x > 96 {
			anchor = "end"
		}
		list = append(list, tick{percent(x), anchor, roundText(t)})
	}
	return list
}

// roundText is a round time without zeros behind the point.
func roundText(t time.Duration) string {
	switch {
	case t%time.Hour == 0:
		return strconv.Itoa(int(t/time.Hour)) + " h"
	case t%time.Minute == 0:
		return strconv.Itoa(int(t/time.Minute)) + " min"
	case t >= time.Second && t < time.Minute:
		return strconv.FormatFloat(t.Seconds(), 'f', -1, 64) + " s"
	}
	return termtext.Duration(t)
}

// roundTime returns the times 1, 2, 5, 10 … µs, and from a minute on those of the clock.
func roundTime(i int) time.Duration {
	if decades := []time.Duration{1, 2, 5}; i < upTo20s {
		return time.Microsecond * decades[i%3] * pow10(i/3)
	}
	clock := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}
	i -= upTo20s
	if i < len(clock) {
		return clock[i]
	}
	return 24 * time.Hour << (i - len(clock) + 1)
}

const upTo20s = 23 // round times

func pow10(n int) time.Duration {
	p := time.Duration(1)
	for range n {
		p *= 10
	}
	return p
}
