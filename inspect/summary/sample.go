package summary

import (
	"math"
	"slices"
	"time"
)

// A sample finds the middle one of durations, and the longest: exactly of the first
// maxExact, beyond that within a percent, in bounded memory.
type sample struct {
	count int
	worst time.Duration
	frame Frame // of the worst

	exact   []time.Duration
	buckets map[int]int // by step, where there are more
}

const (
	maxExact = 1 << 12
	step     = 1.01 // from one bucket to the next
)

func (s *sample) add(d time.Duration, run int, seq uint64) {
	if s.count++; s.count == 1 || d > s.worst {
		s.worst, s.frame = d, Frame{Run: run, Seq: seq}
	}
	if s.count <= maxExact {
		s.exact = append(s.exact, d)
		return
	}
	for _, d := range s.exact {
		s.drop(d)
	}
	s.exact = nil
	s.drop(d)
}

func (s *sample) drop(d time.Duration) {
	i := int(math.Log(float64(max(d, 1))) / math.Log(step))
	put(&s.buckets, i, s.buckets[i]+1)
}

// median returns the duration that half of them do not exceed.
func (s *sample) median() time.Duration {
	if s.exact != nil {
		slices.Sort(s.exact)
		return s.exact[(len(s.exact)-1)/2]
	}
	steps := make([]int, 0, len(s.buckets))
	for i := range s.buckets {
		steps = append(steps, i)
	}
	slices.Sort(steps)
	left := (s.count - 1) / 2
	for _, i := range steps {
		if left -= s.buckets[i]; left < 0 {
			return time.Duration(math.Pow(step, float64(i)+0.5))
		}
	}
	return 0
}

// spread returns what to say of it, nil if there is nothing.
func (s *sample) spread() *Spread {
	if s.count == 0 {
		return nil
	}
	return &Spread{s.count, seconds(s.median()), seconds(s.worst), s.frame}
}
