package inspect

import (
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
)

// A tally counts frames by method and, of session/update, by variant.
type tally map[string]*count

type count struct {
	frames, failed int
	bytes          int64
}

func (t *tally) add(f *dialect.Frame) {
	if *t == nil {
		*t = tally{}
	}
	called := name(f)
	if called == "" {
		called = f.Kind.String()
	}
	c := (*t)[called]
	if c == nil {
		c = &count{}
		(*t)[called] = c
	}
	c.frames++
	c.bytes += f.Size
	if f.Failed {
		c.failed++
	}
}

// quantile returns the latency that a part of the calls does not exceed, such as
// 0.95. The latencies are sorted.
func quantile(latencies []time.Duration, part float64) time.Duration {
	if len(latencies) == 0 {
		return 0
	}
	i := int(part*float64(len(latencies))+0.5) - 1
	return latencies[min(max(i, 0), len(latencies)-1)]
}

// inOrder returns the names that were counted, those with the most frames first.
func (t tally) inOrder() []string {
	names := make([]string, 0, len(t))
	for called := range t {
		names = append(names, called)
	}
	slices.SortFunc(names, func(a, b string) int {
		if n := t[b].frames - t[a].frames; n != 0 {
			return n
		}
		if a < b {
			return -1
		}
		return 1
	})
	return names
}
