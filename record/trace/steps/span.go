package steps

import (
	"cmp"
	"slices"
	"time"
)

// A Span is a period of time on one of the tapes.
type Span struct {
	Run      int // index in Trace.Runs
	From, To time.Duration
}

// Join returns spans in order, and merges those that touch or are at most apart from each
// other.
func Join(list []Span, apart time.Duration) []Span {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.From, b.From)) })
	var joined []Span
	for _, s := range list {
		s.To = max(s.To, s.From)
		if n := len(joined); n > 0 && joined[n-1].Run == s.Run && s.From-joined[n-1].To <= apart {
			joined[n-1].To = max(joined[n-1].To, s.To)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// Length returns the sum of the lengths of spans.
func Length(list []Span) (sum time.Duration) {
	for _, s := range list {
		sum += s.To - s.From
	}
	return sum
}

// clockTimes are the round times from half a minute upward.
var clockTimes = []time.Duration{
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// RoundTime returns the shortest round time that is at least atLeast: 1, 2, 5, 10 … µs up to
// 20 s, then those of clockTimes. Axes use such distances between ticks.
func RoundTime(atLeast time.Duration) time.Duration {
	for unit := time.Microsecond; unit <= 10*time.Second; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if t := n * unit; t >= atLeast && t < clockTimes[0] {
				return t
			}
		}
	}
	for _, t := range clockTimes {
		if t >= atLeast {
			return t
		}
	}
	day := 24 * time.Hour
	for day < atLeast && day < 1<<62 {
		day *= 2
	}
	return day
}
