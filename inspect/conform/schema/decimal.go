package schema

import (
	"bytes"
	"cmp"
)

// A decimal is the exact value of a JSON number: 0.DIGITS × 10^point. It points into the
// number's text, so it allocates nothing.
type decimal struct {
	sign   int    // -1, 0 or 1
	digits []byte // from the first to the last nonzero digit, perhaps with a point between them
	point  int
}

// maxExponent limits exponents. No schema has a greater bound, so numbers beyond it need
// not be distinguished.
const maxExponent = 1 << 30

// decimalOf parses a number of RFC 8259.
func decimalOf(number []byte) decimal {
	d := decimal{sign: 1}
	s, negative := bytes.CutPrefix(number, []byte("-"))
	if negative {
		d.sign = -1
	}
	if i := bytes.IndexAny(s, "eE"); i >= 0 {
		d.point, s = exponentOf(s[i+1:]), s[:i]
	}
	before := bytes.IndexByte(s, '.') // digits before the point
	if before < 0 {
		before = len(s)
	}
	d.digits = bytes.TrimLeft(s, "0.")
	cut := len(s) - len(d.digits)
	if cut > before {
		cut-- // the point is not a digit
	}
	d.point += before - cut
	if before < len(s) {
		d.digits = bytes.TrimRight(d.digits, "0.")
	} else {
		d.digits = bytes.TrimRight(d.digits, "0")
	}
	if len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

func exponentOf(s []byte) (n int) {
	digits, negative := bytes.CutPrefix(bytes.TrimPrefix(s, []byte("+")), []byte("-"))
	for _, c := range digits {
		n = min(n*10+int(c-'0'), maxExponent)
	}
	if negative {
		return -n
	}
	return n
}

// whole reports whether the number is an integer, even if written as 1.0.
func (d decimal) whole() bool {
	n := len(d.digits)
	if bytes.IndexByte(d.digits, '.') >= 0 {
		n--
	}
	return d.sign == 0 || n <= d.point
}

// compare returns -1, 0 or 1 as d is less than, equal to, or greater than e.
func (d decimal) compare(e decimal) int {
	if d.sign != e.sign {
		return cmp.Compare(d.sign, e.sign)
	}
	return d.sign * cmp.Or(cmp.Compare(d.point, e.point), compareDigits(d.digits, e.digits))
}

func compareDigits(a, b []byte) int {
	for {
		a, b = bytes.TrimPrefix(a, []byte(".")), bytes.TrimPrefix(b, []byte("."))
		switch {
		case len(a) == 0 || len(b) == 0:
			return cmp.Compare(len(a), len(b))
		case a[0] != b[0]:
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
}

// whole reports whether a number is an integer.
func whole(number []byte) bool {
	return !bytes.ContainsAny(number, ".eE") || decimalOf(number).whole()
}
