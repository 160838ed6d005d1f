package tracepage

import (
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// The pauses are the times without a frame of a session, by its id.
type pauses map[string]*sessionPauses

type sessionPauses struct {
	run  int
	last time.Duration // of the last frame
	list []interval
}

const (
	shortestPause = 100 * time.Millisecond
	maxPauses     = 1 << 14 // of a session
)

// observe takes the next frame, which is on a tape of that number.
func (p *pauses) observe(run int, f *dialect.Frame) {
	if f.Session == "" || f.Untimed || f.Kind == wire.Mark {
		return
	}
	if *p == nil {
		*p = pauses{}
	}
	s := (*p)[f.Session]
	if s == nil {
		s = &sessionPauses{}
		(*p)[f.Session] = s
	}
	if s.run == run && f.At-s.last >= shortestPause && len(s.list) < maxPauses {
		s.list = append(s.list, interval{run, s.last, f.At})
	}
	s.run, s.last = run, f.At
}

// within returns the pauses in an interval.
func (p pauses) within(session string, of interval) []interval {
	s := p[session]
	if s == nil {
		return nil
	}
	first, _ := slices.BinarySearchFunc(s.list, of, func(a, b interval) int {
		if a.run < b.run || a.run == b.run && a.from < b.from {
			return -1
		}
		return 1
	})
	var list []interval
	for _, one := range s.list[first:] {
		if one.run != of.run || one.to > of.to {
			break
		}
		list = append(list, one)
	}
	return list
}
