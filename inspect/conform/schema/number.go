package schema

import (
	"bytes"
	"cmp"
	"math/big"
	"strconv"
)

// Precision with which numbers are read. A float64 distinguishes decimals of 15 digits.
// For longer ones, 256 bits distinguish 77 digits; reading more than 1,000 exactly would
// take long.
const (
	maxShort  = 15 // bytes
	maxLong   = 1000
	precision = 256 // bits
)

// compareNumbers returns -1, 0 or 1 if a JSON number is less than, equal to, or greater
// than another.
func compareNumbers(a []byte, b string) int {
	if order := cmp.Compare(rounded(string(a)), rounded(b)); order != 0 || len(a) <= maxShort && len(b) <= maxShort {
		return order // without allocating
	}
	return exact(string(a)).Cmp(exact(b))
}

// whole reports whether a number is an integer, even if written as 1.0.
func whole(number []byte) bool {
	if !bytes.ContainsAny(number, ".eE") {
		return true
	}
	n := exact(string(number))
	return n.IsInt() || n.IsInf()
}

func exact(number string) *big.Float {
	if len(number) <= maxLong {
		if n, _, err := big.ParseFloat(number, 10, precision, big.ToNearestEven); err == nil {
			return n
		}
	}
	return big.NewFloat(rounded(number))
}

// rounded returns the nearest float64, which is infinite for a number that is too large.
func rounded(number string) float64 {
	n, _ := strconv.ParseFloat(number, 64)
	return n
}
