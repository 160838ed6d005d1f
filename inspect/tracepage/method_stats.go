package tracepage

import (
	"cmp"
	"maps"
	"slices"

	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// The methodStats count frames by method and, of session/update, by variant.
type methodStats map[string]*methodCount

type methodCount struct {
	frames, failed int
	bytes          int64
}

func (s *methodStats) observe(f *dialect.Frame) {
	if *s == nil {
		*s = methodStats{}
	}
	called := frametext.Name(f)
	if called == "" {
		called = f.Kind.String()
	}
	c := entry(*s, called)
	c.frames++
	c.bytes += f.Size
	if f.Failed {
		c.failed++
	}
}

// The methodUses count the requests and notifications of each method.
type methodUses map[string]int

func (u methodUses) observe(f *dialect.Frame) {
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
