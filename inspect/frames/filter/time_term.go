package filter

import (
	"fmt"
	"strings"
	"time"
)

// A clock says what a frame's time is counted from.
type clock uint8

const (
	ofTape  clock = iota // since the tape began
	ofDay                // since midnight
	ofWorld              // since 1970, UTC
)

// timeTerm tests a frame's time, in ns.
func timeTerm(w written, _ string) (test, string) {
	for c := ofTape; c <= ofWorld; c++ {
		s, problem := rangeOf(w, c.read)
		switch {
		case problem != "":
		case w.to != "" && s.hi < s.lo:
			return test{}, emptyRange
		default:
			return test{ask: func(of *Subject) verdict { return c.fits(of, s) }}, ""
		}
	}
	return test{}, fmt.Sprintf("%q is not a time: since the tape began (1m30s), of day (15:04:05) or RFC 3339", strings.TrimSuffix(w.value+".."+w.to, ".."))
}

func (c clock) read(word string) (measure, string) {
	const bad = "no time"
	layout := "15:04:05"
	switch c {
	case ofTape:
		return duration(word)
	case ofWorld:
		layout = time.RFC3339
	}
	t, err := time.Parse(layout, word)
	if err != nil || strings.Contains(word, ",") { // Go reads a comma as a point
		return measure{}, bad
	}
	r := measure{t.UnixNano(), lastDigit(seconds(word) + "s")}
	if c == ofDay {
		r.value = sinceMidnight(t)
	} else if y := t.Year(); y < 1700 || y > 2200 { // outside these years nanoseconds overflow
		return measure{}, bad
	}
	return r, ""
}

// seconds returns the seconds of a time including the fraction, such as 05.25.
func seconds(word string) string {
	_, word, _ = strings.Cut(word, ":")
	_, word, _ = strings.Cut(word, ":")
	return word[:len(word)-len(strings.TrimLeft(word, "0123456789."))]
}

func sinceMidnight(t time.Time) int64 {
	h, m, s := t.Clock()
	return int64(time.Duration(h)*time.Hour+time.Duration(m)*time.Minute+time.Duration(s)*time.Second) + int64(t.Nanosecond())
}

func (c clock) fits(s *Subject, times numberRange) verdict {
	at := s.Start.Add(s.At)
	switch {
	case s.Untimed, c != ofTape && s.Start.IsZero():
		return no
	case c == ofTape:
		return sure(times.has(int64(s.At)))
	case c == ofWorld:
		return sure(times.has(at.UnixNano()))
	}
	return sure(times.has(sinceMidnight(at)))
}
