package schema

import (
	"bytes"
	"cmp"
	"strings"
)

// A decimal is the value of a JSON number, exactly: 0.DIGITS × 10^point.
type decimal struct {
	sign   int    // -1, 0 or 1
	digits string // from the first to the last that is not 0
	point  int
}

// maxExponent is where exponents end. No schema has a bound beyond, so two numbers
// beyond it need not be told apart.
const maxExponent = 1 << 30

// decimalOf reads a number as RFC 8259 defines it.
func decimalOf(number []byte) decimal {
	d := decimal{sign: 1}
	s := string(number)
	if s[0] == '-' {
		d.sign, s = -1, s[1:]
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		d.point, s = exponentOf(s[i+1:]), s[:i]
	}
	before, after, _ := strings.Cut(s, ".")
	d.digits = strings.TrimLeft(before+after, "0")
	d.point += len(d.digits) - len(after)
	d.digits = strings.TrimRight(d.digits, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func exponentOf(s string) (n int) {
	digits, negative := strings.CutPrefix(strings.TrimPrefix(s, "+"), "-")
	for _, c := range []byte(digits) {
		n = min(n*10+int(c-'0'), maxExponent)
	}
	if negative {
		return -n
	}
	return n
}

// whole reports whether the number is an integer, however it is written: 1.0 is one.
func (d decimal) whole() bool { return len(d.digits) <= d.point || d.sign == 0 }

// compare returns -1, 0 or 1 as d is less than, equal to, or greater than e.
func (d decimal) compare(e decimal) int {
	if d.sign != e.sign {
		return cmp.Compare(d.sign, e.sign)
	}
	size := cmp.Or(cmp.Compare(d.point, e.point), cmp.Compare(d.digits, e.digits))
	return d.sign * size
}

// whole reports whether a number is an integer.
func whole(number []byte) bool {
	return !bytes.ContainsAny(number, ".eE") || decimalOf(number).whole()
}
