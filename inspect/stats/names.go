package stats

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// names counts things by name. Names beyond maxNames are counted together. Its zero value
// is empty.
type names[T any] map[string]*T

const (
	maxNames  = 1 << 10
	maxLength = 256 // bytes of a name
	others    = "others"
)

// of returns what is counted under a name.
func (n *names[T]) of(name string) *T {
	if len(name) > maxLength {
		name = strings.ToValidUTF8(name[:maxLength], "")
	}
	if v := (*n)[name]; v != nil {
		return v
	}
	if *n == nil {
		*n = names[T]{}
	}
	if len(*n) >= maxNames {
		name = others
	}
	v := (*n)[name]
	if v == nil {
		v = new(T)
		(*n)[strings.Clone(name)] = v
	}
	return v
}

// A Named is something counted by name.
type Named struct {
	Name   string
	Server string // the called server; empty: none, or everything beyond the limit
	*Timing
}

// timings returns the timings that are not empty: most frequent first, then by time
// taken, then by name.
func timings(n names[Timing]) []Named {
	var list []Named
	for _, name := range slices.Sorted(maps.Keys(n)) {
		if t := n[name]; t.Total() > 0 {
			list = append(list, Named{Name: name, Timing: t})
		}
	}
	slices.SortStableFunc(list, func(a, b Named) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(b.Took.sum, a.Took.sum))
	})
	return list
}
