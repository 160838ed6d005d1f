package stats

import (
	"math"
	"math/bits"
)

// A histogram counts numbers in buckets: each power of two is divided into 64 of equal
// width, so the middle of a bucket is within 0.8 % of all numbers in it, and numbers
// below 64 have buckets of their own. Times between a millisecond and a few seconds take
// 3 KiB; all possible numbers take 15 KiB.
type histogram struct {
	pages [58]*page // by power of two; nil: no numbers
}

const perPage = 64

type page [perPage]uint32

// bucket returns the bucket of a number, which must not be negative.
func bucket(v int64) (power, at int) {
	if v < perPage {
		return 0, int(v)
	}
	shift := bits.Len64(uint64(v)) - 7
	return shift + 1, int(v>>shift) - perPage
}

// middle returns the number that represents a bucket.
func middle(power, at int) int64 {
	if power == 0 {
		return int64(at)
	}
	shift := power - 1
	return int64(perPage+at)<<shift + int64(1)<<shift>>1
}

func (h *histogram) add(v int64, count uint32) {
	power, at := bucket(v)
	h.put(power, at, count)
}

func (h *histogram) put(power, at int, count uint32) {
	if h.pages[power] == nil {
		h.pages[power] = new(page)
	}
	n := &h.pages[power][at]
	*n += min(count, math.MaxUint32-*n)
}

func (h *histogram) merge(o *histogram) {
	for power, p := range o.pages {
		if p == nil {
			continue
		}
		for at, count := range p {
			if count > 0 {
				h.put(power, at, count)
			}
		}
	}
}

// each yields the numbers that represent buckets, in order, with their counts.
func (h *histogram) each(yield func(v, count int64) bool) {
	for power, p := range h.pages {
		if p == nil {
			continue
		}
		for at, count := range p {
			if count > 0 && !yield(middle(power, at), int64(count)) {
				return
			}
		}
	}
}

// at returns the number with a rank, counted from 1, or the largest int64 if there are
// fewer.
func (h *histogram) at(rank int64) int64 {
	for power, p := range h.pages {
		if p == nil {
			continue
		}
		for at, count := range p {
			if rank -= int64(count); rank <= 0 {
				return middle(power, at)
			}
		}
	}
	return math.MaxInt64
}
