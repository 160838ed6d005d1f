package spans

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Measured holds the measurements of one resource.
type Measured struct {
	Resource []Attr
	Points   []Point // in the order of Metrics
}

// A Point is a histogram of numbers with the same attributes over a period of time.
type Point struct {
	*Metric
	Attrs   []Attr
	Start   time.Time
	End     time.Time
	Count   uint64
	Sum     float64
	Min     float64
	Max     float64
	Buckets []uint64 // one more than Bounds; the last counts numbers above all bounds
}

// A Meter measures the sets of a tape, or of several in succession. Its zero value is
// ready to use, and restarts its counts with each Take.
type Meter struct {
	// Cumulative makes each point cover the whole tape so far. Such points depend only on the
	// tape, so the Meter need not remember earlier ones, and sending a point twice is
	// harmless.
	Cumulative bool

	groups []*group
}

// A group holds the measurements of a resource.
type group struct {
	of     []Attr // the resource
	key    string
	points map[string]*Point // by metric and attributes
	fresh  map[string]bool   // points changed since the last Take
	start  time.Time         // when the period began; zero: unset
	end    time.Time
}

// Add measures a set.
func (m *Meter) Add(set Set) {
	g := m.group(set)
	if g.start.IsZero() {
		g.start = set.Since
		if m.Cumulative {
			g.start = set.Began
		}
	}
	g.end = set.At
	for i := range set.Spans {
		for _, one := range set.Spans[i].measure() {
			g.add(one)
		}
	}
}

// group returns the group of a set's resource.
func (m *Meter) group(set Set) *group {
	key := keyOf(set.Resource)
	for _, g := range m.groups {
		if g.key == key {
			return g
		}
	}
	g := &group{of: set.Resource, key: key, points: map[string]*Point{}, fresh: map[string]bool{}}
	m.groups = append(m.groups, g)
	return g
}

func (g *group) add(m measurement) {
	key := m.metric + " " + keyOf(m.attrs)
	p := g.points[key]
	if p == nil {
		of := Metrics[slices.IndexFunc(Metrics, func(of *Metric) bool { return of.Name == m.metric })]
		p = &Point{Metric: of, Attrs: m.attrs, Min: m.value, Max: m.value, Buckets: make([]uint64, len(of.Bounds)+1)}
		g.points[key] = p
	}
	g.fresh[key] = true
	bucket, _ := slices.BinarySearch(p.Bounds, m.value)
	p.Buckets[bucket]++
	p.Count, p.Sum, p.Min, p.Max = p.Count+1, p.Sum+m.value, min(p.Min, m.value), max(p.Max, m.value)
}

// keyOf returns a key that identifies a set of attributes.
func keyOf(attrs []Attr) string {
	var b strings.Builder
	for _, a := range attrs {
		fmt.Fprintf(&b, "%q=%q ", a.Name, fmt.Sprint(a.Value))
	}
	return b.String()
}

// Take returns the points that have changed since the last Take.
func (m *Meter) Take() (all []Measured) {
	for _, g := range m.groups {
		one := Measured{Resource: g.of}
		keys := slices.SortedFunc(maps.Keys(g.fresh), func(a, b string) int {
			return cmp.Or(slices.Index(Metrics, g.points[a].Metric)-slices.Index(Metrics, g.points[b].Metric), strings.Compare(a, b))
		})
		for _, key := range keys {
			p := *g.points[key]
			p.Start, p.End, p.Buckets = g.start, g.end, slices.Clone(p.Buckets)
			one.Points = append(one.Points, p)
		}
		if len(one.Points) > 0 {
			all = append(all, one)
		}
		clear(g.fresh)
	}
	if !m.Cumulative {
		m.groups = nil
	}
	return all
}
