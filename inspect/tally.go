package inspect

import (
	"cmp"
	"maps"
	"slices"

	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
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
	called := frametext.Name(f)
	if called == "" {
		called = f.Kind.String()
	}
	c := entry(*t, called)
	c.frames++
	c.bytes += f.Size
	if f.Failed {
		c.failed++
	}
}

// uses count the requests and notifications of each method.
type uses map[string]int

func (u uses) add(f *dialect.Frame) {
	if f.Kind == wire.Notification || f.Kind != wire.Response && f.Request == 0 {
		u[f.Method]++
	}
	for i := range f.Entries {
		if f.Entries[i].Request == 0 {
			u[f.Entries[i].Method]++
		}
	}
}

// byCount returns the keys of a map, those with the most first.
func byCount[T any](m map[string]*T, count func(*T) int) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(count(m[b]), count(m[a])), cmp.Compare(a, b))
	})
}

// entry returns what a map has under a key, which is made if it is not there.
func entry[T any](m map[string]*T, key string) *T {
	if m[key] == nil {
		m[key] = new(T)
	}
	return m[key]
}
