package stats

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Rules counts what each rule of acptap proxy did to the traffic. Its zero value is empty.
type Rules struct{ names names[RuleCount] }

// A RuleCount is how often a rule acted, and on how many frames.
type RuleCount struct {
	Name   string
	Acts   int
	Frames int
	First  uint64 // number of its first mark
}

// Take counts a frame if it is the mark of a rule that acted.
func (s *Rules) Take(f *dialect.Frame) {
	if f.Kind != wire.Mark {
		return
	}
	if r := wire.ReadMark(f.Frame).Rule; r != nil && r.Frames > 0 {
		c := s.names.of(r.Name)
		if c.Acts++; c.Acts == 1 {
			c.First = f.Seq
		}
		c.Frames += r.Frames
	}
}

// List returns the counts, most frequent first.
func (s *Rules) List() []RuleCount {
	list := make([]RuleCount, 0, len(s.names))
	for name, c := range s.names {
		one := *c
		one.Name = name
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b RuleCount) int {
		return cmp.Or(cmp.Compare(b.Acts, a.Acts), cmp.Compare(a.Name, b.Name))
	})
	return list
}
