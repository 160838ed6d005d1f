package measure

import (
	"fmt"
	"math"
	"time"
)

// A Difference is how a value of one run differs from that of another. The zero value is that
// of values that cannot be compared.
type Difference struct {
	Order int    // of the second against the first: 1 larger, -1 smaller, 0 the same or nearly so
	Arrow string // ↑, ↓, = or ≈
	Words string // 300 ms longer
	Share string // +35 % or ×12; empty: it tells nothing
}

// Two times differ only nearly if that is by less than the larger of these: machines that do
// the same twice do not take the same time.
const (
	nearly     = 0.05 // of the longer one
	nearlyTime = time.Millisecond
)

// Between returns how b differs from a.
func Between(a, b Value) Difference {
	switch {
	case !a.Known() || !b.Known() || !a.Alike(b):
		return Difference{}
	case a == b:
		return Difference{Arrow: "=", Words: "the same"}
	case a.number() < b.number():
		d := Difference{Order: 1, Arrow: "↑", Words: b.minus(a).String() + " " + larger[a.kind]}
		return d.against(a, b)
	default:
		d := Difference{Order: -1, Arrow: "↓", Words: a.minus(b).String() + " " + smaller[a.kind]}
		return d.against(a, b)
	}
}

var (
	larger  = [...]string{aCount: "more", aTime: "longer", anAmount: "more"}
	smaller = [...]string{aCount: "fewer", aTime: "shorter", anAmount: "less"}
)

// against adds how much that is against a whole, where that tells something.
func (d Difference) against(a, b Value) Difference {
	x, y := a.number(), b.number()
	by, of := math.Abs(y-x), max(x, y)
	if a.kind == aTime && (by < nearly*of || by < float64(nearlyTime)) {
		return Difference{Arrow: "≈", Words: "about the same"}
	}
	const few = 20 // of which everybody sees what share they are
	switch {
	case a.kind == aCount && of < few || x <= 0:
	case y >= 10*x:
		d.Share = fmt.Sprintf("×%.0f", y/x)
	case 100*by >= x/2:
		d.Share = fmt.Sprintf("%s%.0f %%", map[int]string{1: "+", -1: "−"}[d.Order], 100*by/x)
	}
	return d
}

// OnlyIn says which run has a value that the other has not; nothing if both or none have.
func OnlyIn(a, b Value) string {
	switch {
	case a.Known() && !b.Known():
		return "only in A"
	case b.Known() && !a.Known():
		return "only in B"
	}
	return ""
}
