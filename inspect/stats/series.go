package stats

import (
	"iter"
	"math"
	"slices"
)

// maxExact is of how many numbers a Series has percentiles that are exact.
const maxExact = 1 << 12

// A Series is what is kept of numbers, such as times in ns or tokens: how many, their
// sum, the largest, and percentiles, which are exact of the first 4,096 and within one
// percent beyond. It takes bounded memory. Its zero value is empty.
type Series struct {
	n, max, sum int64
	exact       []int64    // unless there is a histogram
	histogram   *histogram // nil: all are exact
}

// Add adds a number, a negative one as 0, and reports whether none before is as large.
func (s *Series) Add(v int64) (largest bool) {
	v = max(v, 0)
	largest = s.n == 0 || v > s.max
	s.n, s.sum, s.max = s.n+1, plus(s.sum, v), max(s.max, v)
	if s.histogram == nil {
		s.exact = append(s.exact, v)
		if len(s.exact) > maxExact {
			s.compress()
		}
		return largest
	}
	s.histogram.add(v, 1)
	return largest
}

// Merge adds the numbers of another Series, which stays as it is.
func (s *Series) Merge(o *Series) {
	s.n, s.sum, s.max = s.n+o.n, plus(s.sum, o.sum), max(s.max, o.max)
	if s.histogram == nil && o.histogram == nil {
		if s.exact = append(s.exact, o.exact...); len(s.exact) > maxExact {
			s.compress()
		}
		return
	}
	s.compress()
	for _, v := range o.exact {
		s.histogram.add(v, 1)
	}
	if o.histogram != nil {
		s.histogram.merge(o.histogram)
	}
}

// compress gives up the exact numbers.
func (s *Series) compress() {
	if s.histogram != nil {
		return
	}
	s.histogram = &histogram{}
	for _, v := range s.exact {
		s.histogram.add(v, 1)
	}
	s.exact = nil
}

// Count returns how many numbers were added.
func (s *Series) Count() int { return int(s.n) }

// Sum returns the sum, at most the largest int64.
func (s *Series) Sum() int64 { return s.sum }

// Max returns the largest number, 0 if there is none.
func (s *Series) Max() int64 { return s.max }

// Percentile returns the smallest number that so many percent of the numbers do not
// exceed (nearest rank: one of them, without interpolation). ok is false if there are
// too few numbers to tell: the 95th takes 20, the 99th 100.
func (s *Series) Percentile(percent int) (v int64, ok bool) {
	if s.n == 0 || percent > 50 && s.n*int64(100-percent) < 100 {
		return 0, false
	}
	rank := (s.n*int64(percent) + 99) / 100
	if s.histogram != nil {
		return min(s.histogram.at(rank), s.max), true
	}
	slices.Sort(s.exact)
	return s.exact[max(rank, 1)-1], true
}

// plus adds numbers that are not negative.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// All yields the numbers, each with how often it was added. Beyond the first 4,096 they are
// within one percent.
func (s *Series) All() iter.Seq2[int64, int64] {
	return func(yield func(v, count int64) bool) {
		if s.histogram != nil {
			s.histogram.each(yield)
			return
		}
		for _, v := range s.exact {
			if !yield(v, 1) {
				return
			}
		}
	}
}
