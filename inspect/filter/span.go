package filter

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A span is the whole numbers from lo to hi, none if hi is less.
type span struct{ lo, hi int64 }

func (s span) has(n int64) bool { return s.lo <= n && n <= s.hi }

// A reading is a number as it was written.
type reading struct {
	value int64
	unit  int64 // of its last digit: 1.5s is 1.5 to below 1.6 seconds
}

// spanOf returns the numbers that a term wants; read returns the problem if a
// word is no number.
func spanOf(w written, read func(string) (reading, string)) (s span, problem string) {
	from, problem := read(w.value)
	if problem != "" {
		return span{}, problem
	}
	v := from.value
	if w.to != "" {
		to, problem := read(w.to)
		return span{v, to.value}, problem
	}
	switch w.op {
	case ">":
		if v == math.MaxInt64 {
			return span{1, 0}, ""
		}
		return span{v + 1, math.MaxInt64}, ""
	case ">=":
		return span{v, math.MaxInt64}, ""
	case "<":
		return span{math.MinInt64, v - 1}, "" // no word is as small as math.MinInt64
	case "<=":
		return span{math.MinInt64, v}, ""
	}
	if v > math.MaxInt64-from.unit {
		return span{v, math.MaxInt64}, ""
	}
	return span{v, v + from.unit - 1}, ""
}

// wayRound is the problem of a range that is empty.
const wayRound = "the range ends before it begins"

// A quantity is what of a Subject is a number.
type quantity uint8

const (
	seq quantity = iota
	size
	turn
	latency
)

// A spanTest asks for a number.
type spanTest struct {
	quantity quantity
	span     span
}

func spanTerm(q quantity, read func(string) (reading, string)) func(written, string) (test, string) {
	return func(w written, _ string) (test, string) {
		s, problem := spanOf(w, read)
		if problem == "" && w.to != "" && s.hi < s.lo {
			problem = wayRound
		}
		return spanTest{q, s}, problem
	}
}

func (t spanTest) needs() needs {
	if t.quantity == turn || t.quantity == latency {
		return ofPast
	}
	return 0
}

func (t spanTest) fits(s *Subject) verdict {
	switch t.quantity {
	case seq:
		return sure(t.span.has(int64(s.Seq)))
	case size:
		return sure(t.span.has(s.Size))
	case turn:
		return sure(s.Turn > 0 && t.span.has(int64(s.Turn)))
	}
	return sure(s.Latency > 0 && t.span.has(int64(s.Latency)))
}

// number reads a whole number.
func number(word string) (reading, string) {
	n, err := strconv.ParseUint(word, 10, 63)
	if err != nil {
		return reading{}, fmt.Sprintf("%q is no whole number", word)
	}
	return reading{int64(n), 1}, ""
}

var units = map[string]float64{
	"": 1, "B": 1,
	"k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	"kB": 1e3, "MB": 1e6, "GB": 1e9,
}

// byteSize reads a size in bytes.
func byteSize(word string) (reading, string) {
	digits := strings.TrimRight(word, "BGKMik")
	n, err := strconv.ParseFloat(digits, 64)
	unit, ok := units[word[len(digits):]]
	if n *= unit; err != nil || !ok || !isPlain(digits) || n >= math.MaxInt64 {
		return reading{}, fmt.Sprintf("%q is no size, such as 500, 64k, 1.5MiB or 2MB", word)
	}
	return reading{int64(n), 1}, ""
}

// isPlain reports whether a number that strconv takes is digits with at most a
// point.
func isPlain(digits string) bool { return strings.Trim(digits, "0123456789.") == "" }

// duration reads a time as Go writes it.
func duration(word string) (reading, string) {
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		return reading{}, fmt.Sprintf("%q is no duration, such as 250ms, 2.5s or 1m30s", word)
	}
	return reading{int64(d), lastDigit(word)}, ""
}

// lastDigit returns what one of the last digit of a duration is worth, in ns.
func lastDigit(word string) int64 {
	number := strings.TrimRight(word, "hmnsuµμ")
	unit, err := time.ParseDuration("1" + word[len(number):])
	if err != nil { // 0 has no unit
		return 1
	}
	n := int64(unit)
	if _, fraction, ok := strings.Cut(number[strings.LastIndexAny(number, "hmsuµμn")+1:], "."); ok {
		for range min(len(fraction), 18) {
			n /= 10
		}
	}
	return max(n, 1)
}
