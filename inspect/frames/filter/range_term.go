package filter

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A numberRange is the whole numbers from lo to hi; it is empty if hi is less.
type numberRange struct{ lo, hi int64 }

func (r numberRange) has(n int64) bool { return r.lo <= n && n <= r.hi }

// A measure is a number as it was written.
type measure struct {
	value int64
	unit  int64 // value of one in the last digit: 1.5s is 1.5 to below 1.6 seconds
}

// rangeOf returns the range of numbers that a term selects; read describes the problem if
// a word is not a number.
func rangeOf(w written, read func(string) (measure, string)) (s numberRange, problem string) {
	from, problem := read(w.value)
	if problem != "" {
		return numberRange{}, problem
	}
	v := from.value
	if w.to != "" {
		to, problem := read(w.to)
		return numberRange{v, to.value}, problem
	}
	switch w.op {
	case ">":
		if v == math.MaxInt64 {
			return numberRange{1, 0}, ""
		}
		return numberRange{v + 1, math.MaxInt64}, ""
	case ">=":
		return numberRange{v, math.MaxInt64}, ""
	case "<":
		return numberRange{math.MinInt64, v - 1}, "" // words never reach math.MinInt64
	case "<=":
		return numberRange{math.MinInt64, v}, ""
	}
	if v > math.MaxInt64-from.unit {
		return numberRange{v, math.MaxInt64}, ""
	}
	return numberRange{v, v + from.unit - 1}, ""
}

// emptyRange is the problem reported for an empty range.
const emptyRange = "the range ends before it begins"

// rangeTerm makes tests of a number that of returns for a frame if it is known.
func rangeTerm(reads needs, read func(string) (measure, string), of func(*Subject) (n int64, known bool)) testMaker {
	return func(w written, _ string) (test, string) {
		numbers, problem := rangeOf(w, read)
		if problem == "" && w.to != "" && numbers.hi < numbers.lo {
			problem = emptyRange
		}
		return test{reads: reads, ask: func(s *Subject) verdict {
			n, known := of(s)
			return sure(known && numbers.has(n))
		}}, problem
	}
}

// number parses a whole number.
func number(word string) (measure, string) {
	n, err := strconv.ParseUint(word, 10, 63)
	if err != nil {
		return measure{}, fmt.Sprintf("%q is not a whole number", word)
	}
	return measure{int64(n), 1}, ""
}

var units = map[string]float64{
	"": 1, "B": 1,
	"k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	"kB": 1e3, "MB": 1e6, "GB": 1e9,
}

// ParseSize parses a size in bytes, such as 64k, 1.5MiB or 2MB.
func ParseSize(word string) (int64, error) {
	size, problem := byteSize(word)
	if problem != "" {
		return 0, errors.New(problem)
	}
	return size.value, nil
}

// byteSize parses a size in bytes.
func byteSize(word string) (measure, string) {
	digits := strings.TrimRight(word, "BGKMik")
	n, err := strconv.ParseFloat(digits, 64)
	unit, ok := units[word[len(digits):]]
	if n *= unit; err != nil || !ok || strings.Trim(digits, "0123456789.") != "" || n >= math.MaxInt64 {
		return measure{}, fmt.Sprintf("%q is not a size, such as 500, 64k, 1.5MiB or 2MB", word)
	}
	return measure{int64(n), 1}, ""
}

// duration parses a time in Go's notation.
func duration(word string) (measure, string) {
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		return measure{}, fmt.Sprintf("%q is not a duration, such as 250ms, 2.5s or 1m30s", word)
	}
	return measure{int64(d), lastDigit(word)}, ""
}

// lastDigit returns the value of one in the last digit of a duration, in ns.
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
