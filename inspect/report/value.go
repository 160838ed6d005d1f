package report

import (
	"fmt"
	"math"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/termtext"
)

// A value is a quantity. The zero value is unknown.
type value struct {
	number float64
	unit   string // counted, timed (in ns), or costs followed by a currency
}

const (
	counted = "n"
	timed   = "t"
	costs   = "$"
)

func count(n int) value            { return value{float64(n), counted} }
func timeOf(d time.Duration) value { return value{float64(d), timed} }
func amount(n float64, currency string) value {
	return value{n, costs + termtext.Piece(currency)}
}

func (v value) known() bool { return v.unit != "" }

// String formats v for people, or returns – if it is unknown.
func (v value) String() string {
	switch v.unit {
	case "":
		return "–"
	case counted:
		return termtext.Grouped(int64(v.number))
	case timed:
		return moment(time.Duration(v.number))
	}
	return termtext.Amount(v.number) + " " + v.unit[len(costs):]
}

// A difference says how a value of one run differs from the other run's. It is zero for
// values that cannot be compared.
type difference struct {
	Order int    // of the second: 1 larger, -1 smaller, 0 the same or nearly so
	Arrow string // ↑, ↓, = or ≈
	Words string // such as 300 ms longer
	Share string // +35 % or ×12; empty if it would add nothing
}

func (d difference) html() h.Node {
	return h.Group{h.Given(d.Arrow, span("arrow", d.Arrow), h.Text(" ")), h.Text(d.Words), h.Given(d.Share, h.Text(" "), h.Small(h.Class("soft"), h.Text(d.Share)))}
}

// Two times are about the same if they differ by less than the larger of these: a machine
// never takes exactly the same time twice.
const (
	nearly     = 0.05 // share of the longer one
	nearlyTime = time.Millisecond
)

// between returns how b differs from a.
func between(a, b value) difference {
	if !a.known() || a.unit != b.unit {
		return difference{}
	}
	if a == b {
		return difference{Arrow: "=", Words: "the same"}
	}
	larger, smaller := "more", "less"
	switch a.unit {
	case counted:
		smaller = "fewer"
	case timed:
		larger, smaller = "longer", "shorter"
	}
	of, by := max(a.number, b.number), math.Abs(b.number-a.number)
	if a.unit == timed && (by < nearly*of || by < float64(nearlyTime)) {
		return difference{Arrow: "≈", Words: "about the same"}
	}
	d, sign := difference{Order: 1, Arrow: "↑", Words: value{by, a.unit}.String() + " " + larger}, "+"
	if b.number < a.number {
		d, sign = difference{Order: -1, Arrow: "↓", Words: value{by, a.unit}.String() + " " + smaller}, "−"
	}
	const few = 20 // with so few, the share is obvious
	switch {
	case a.unit == counted && of < few || a.number <= 0:
	case b.number >= 10*a.number:
		d.Share = fmt.Sprintf("×%.0f", b.number/a.number)
	case 100*by >= a.number/2:
		d.Share = fmt.Sprintf("%s%.0f %%", sign, 100*by/a.number)
	}
	return d
}

// onlyIn returns the run that has a value that the other lacks, or "" if both or neither
// have it.
func onlyIn(a, b value) string {
	switch {
	case a.known() && !b.known():
		return "only in A"
	case b.known() && !a.known():
		return "only in B"
	}
	return ""
}
