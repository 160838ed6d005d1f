package stats_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/stats"
)

// some returns numbers of a distribution that latencies may have.
func some(rng *rand.Rand, n int) []int64 {
	list := make([]int64, n)
	kind := rng.IntN(5)
	for i := range list {
		switch kind {
		case 0:
			list[i] = int64(rng.ExpFloat64() * float64(time.Second))
		case 1:
			list[i] = int64(math.Exp(rng.NormFloat64()*4 + 14))
		case 2:
			list[i] = rng.Int64N(200)
		case 3:
			list[i] = rng.Int64()
		default:
			list[i] = 7_000_000 // all the same
		}
	}
	return list
}

func seriesOf(list []int64) *stats.Series {
	var s stats.Series
	for _, v := range list {
		s.Add(v)
	}
	return &s
}

// Percentiles are those of the sorted numbers: exactly for few, within one percent for
// many, and unknown if there are too few numbers.
func TestPercentile(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := []int{1, 2, 3, 19, 20, 99, 100, 4096, 4097, 30_000}[seed%10]
		list := some(rng, n)
		s := seriesOf(list)
		slices.Sort(list)
		if s.Count() != n || s.Max() != list[n-1] {
			t.Errorf("seed %d: got %d numbers up to %d, want %d up to %d", seed, s.Count(), s.Max(), n, list[n-1])
		}
		for percent, least := range map[int]int{1: 1, 50: 1, 90: 10, 95: 20, 99: 100} {
			got, ok := s.Percentile(percent)
			if ok != (n >= least) {
				t.Errorf("seed %d: p%d of %d is told: %v", seed, percent, n, ok)
			}
			if !ok {
				continue
			}
			want := list[int(math.Ceil(float64(percent*n)/100))-1]
			off := 0.0
			if n > 4096 {
				off = float64(want) / 100
			}
			if math.Abs(float64(got-want)) > off {
				t.Errorf("seed %d: p%d of %d is %d, want %d", seed, percent, n, got, want)
			}
		}
	}
}

// Merged Series give the same as one with all the numbers.
func TestMerge(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 2))
		a, b := some(rng, rng.IntN(6000)), some(rng, rng.IntN(6000))
		got, other := seriesOf(a), seriesOf(b)
		got.Merge(other)
		want := seriesOf(slices.Concat(a, b))
		for percent := 1; percent < 100; percent++ {
			x, ok := got.Percentile(percent)
			y, told := want.Percentile(percent)
			if x != y || ok != told {
				t.Fatalf("seed %d: p%d of %d and %d is %d, want %d", seed, percent, len(a), len(b), x, y)
			}
		}
		if got.Count() != want.Count() || got.Sum() != want.Sum() || got.Max() != want.Max() {
			t.Errorf("seed %d: got %d, %d, %d; want %d, %d, %d", seed, got.Count(), got.Sum(), got.Max(), want.Count(), want.Sum(), want.Max())
		}
		if other.Count() != len(b) {
			t.Errorf("seed %d: what was merged has changed", seed)
		}
	}
}

// The numbers at the limits.
func TestExtremes(t *testing.T) {
	var s stats.Series
	if v, ok := s.Percentile(50); ok {
		t.Errorf("the middle of nothing is %d", v)
	}
	if !s.Add(-5) || s.Add(0) || !s.Add(math.MaxInt64) || s.Add(math.MaxInt64) {
		t.Error("which are the largest is told wrong")
	}
	for range 5000 {
		s.Add(math.MaxInt64)
	}
	if v, _ := s.Percentile(99); v < math.MaxInt64/100*99 || s.Sum() != math.MaxInt64 || s.Max() != math.MaxInt64 {
		t.Errorf("got %d, sum %d", v, s.Sum())
	}
}

// A Series of a million latencies takes a few KiB.
func TestSeriesBounded(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	list := make([]*stats.Series, 100)
	before := heap()
	for i := range list {
		list[i] = new(stats.Series)
		for n := range 10_000 {
			list[i].Add(int64(time.Millisecond) + int64(n)*int64(400*time.Microsecond)) // up to 4 s
		}
	}
	if each := int64(heap()-before) / int64(len(list)); each > 4500 {
		t.Errorf("each takes %d bytes", each)
	}
	runtime.KeepAlive(list)
}

func BenchmarkSeries(b *testing.B) {
	b.ReportAllocs()
	list := some(rand.New(rand.NewPCG(0, 0)), 1<<16)
	var s stats.Series
	for i := 0; b.Loop(); i++ {
		s.Add(list[i&(1<<16-1)])
	}
}

// All yields the numbers that were added, even if they are only approximate.
func TestAll(t *testing.T) {
	for _, n := range []int{0, 10, 10_000} {
		var s stats.Series
		for i := range n {
			s.Add(int64(1000 + i))
		}
		count, sum := int64(0), int64(0)
		for v, c := range s.All() {
			count, sum = count+c, sum+v*c
		}
		if diff := sum - s.Sum(); count != int64(n) || diff > s.Sum()/100 || -diff > s.Sum()/100 {
			t.Errorf("%d numbers: got %d of them, their sum %d, want %d", n, count, sum, s.Sum())
		}
	}
}
