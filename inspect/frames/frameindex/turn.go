package frameindex

import (
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// TurnOf returns the number of the turn that a frame belongs to, or 0 if it belongs to
// none. start is when the first tape began.
func TurnOf(f *dialect.Frame, c Columns, t *Timeline, start time.Time, on Progress) int {
	s := NewMatcher(filter.Filter{}, start)
	s.Know(t)
	turn := 0
	c.Seek(1, 1, func(g *dialect.Frame) bool {
		if g.Seq <= f.Seq && (g.Session == f.Session || g.Seq == f.Seq) {
			s.Observe(t.PartOf(g.Seq), g)
			turn = s.subject.Turn
		}
		return g.Seq >= f.Seq || !on.at(g.Seq)
	})
	return turn
}
