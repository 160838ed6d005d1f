package stats

import (
	"iter"
	"math"
	"slices"
)

// maxExact is the most numbers for which a Series has exact percentiles.
const maxExact = 1 << 12

// A Series summarizes numbers, such as times in ns or tokens: their count, sum, maximum
// and percentiles, which are exact up to 4,096 numbers and within one percent beyond. Its
// memory is bounded. Its zero value is empty.
type Series struct {
	n, max, sum int64
	exact       []int64    // unless there is a histogram
	histogram   *histogram // nil: all are exact
}

// Add adds a number, counting a negative one as 0, and reports whether it is larger than
// all earlier ones.
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

// Merge adds the numbers of another Series, which stays unchanged.
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

// compress replaces the exact numbers with a histogram.
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

// Sum returns the sum, or the largest int64 if it overflows.
func (s *Series) Sum() int64 { return s.sum }

// Max returns the largest number, or 0 if there is none.
func (s *Series) Max() int64 { return s.max }

// Percentile returns a percentile by nearest rank, without interpolation: the smallest of
// the numbers such that at least percent % of them are no larger. ok is false if there are
// too few numbers: the 95th percentile needs 20, the 99th 100.
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

// plus adds two non-negative numbers, and returns the largest int64 on overflow.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// All yields the numbers with their counts. Beyond 4,096 numbers they are accurate to
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
