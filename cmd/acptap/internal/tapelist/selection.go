// Package tapelist selects, arranges and names the tapes and sessions in lists.
package tapelist

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
)

// A Selection says which tapes or sessions the flags of a list select.
type Selection struct {
	Failed bool
	Tags   []string // all of them
	Limit  uint     // only the newest ones; 0: all
	Word   string   // in the name of an agent, or naming Named; empty: all
	Named  []string // ids of the tapes that Word names

	agent string
	since string
	from  time.Time // parsed from since
}

// Register adds the flags that lists of tapes and of sessions share.
func (s *Selection) Register(f *pflag.FlagSet) {
	f.StringVar(&s.agent, "agent", "", "only those of the agent with this in its `name`, as the user or the agent itself calls it")
	f.StringVar(&s.since, "since", "", "only those since this `time`: an age such as 2h or 7d, or a date such as 2026-01-31")
}

// Parse checks the flags. Ages count back from now.
func (s *Selection) Parse(now time.Time) (err error) {
	if s.since != "" {
		s.from, err = ParseSince(s.since, now)
	}
	return err
}

// IsZero reports whether all tapes are selected, apart from the limit.
func (s *Selection) IsZero() bool {
	return s.agent == "" && s.since == "" && s.Word == "" && !s.Failed && len(s.Tags) == 0
}

// HasTape reports whether a tape is selected.
func (s *Selection) HasTape(i *record.Info) bool {
	agent := []string{i.Start.Name, i.Connection.Agent, i.Connection.AgentTitle, tapetext.AgentName(*i)}
	return s.HasAgent(agent...) && s.HasTime(i.Start.Time) &&
		(slices.Contains(s.Named, i.Tape) || containsFold(agent, s.Word)) &&
		(!s.Failed || i.Failures > 0) &&
		!slices.ContainsFunc(s.Tags, func(tag string) bool { return !slices.Contains(i.Tags, tag) })
}

// NamesProbe reports whether tapes of acptap probe are to be listed individually.
func (s *Selection) NamesProbe() bool {
	return strings.HasPrefix(s.Word, "probe") || len(s.Tags) > 0 || len(s.Named) > 0
}

// HasAgent reports whether an agent with these names is selected, ignoring case.
func (s *Selection) HasAgent(names ...string) bool { return containsFold(names, s.agent) }

// containsFold reports whether a text contains part, ignoring case.
func containsFold(texts []string, part string) bool {
	part = strings.ToLower(part)
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), part) })
}

// HasTime reports whether a time is selected.
func (s *Selection) HasTime(t time.Time) bool { return !t.Before(s.from) }

// Newest returns the last limit items of a list.
func Newest[T any](list []T, limit uint) []T {
	if limit == 0 || limit > uint(len(list)) {
		return list
	}
	return list[len(list)-int(limit):]
}

// layouts are the accepted forms of dates, in local time.
var layouts = [...]string{"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// ParseSince parses an age or a date.
func ParseSince(text string, now time.Time) (time.Time, error) {
	if age, err := ParseAge(text); err == nil {
		return now.Add(-age), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since %q is neither an age such as 2h or 7d nor a date such as 2026-01-31", text)
}

// ParseAge parses a duration, which may be in days and weeks.
func ParseAge(s string) (time.Duration, error) {
	for unit, hours := range map[string]int64{"d": 24, "w": 7 * 24} {
		digits, ok := strings.CutSuffix(s, unit)
		n, err := strconv.ParseInt(digits, 10, 64)
		if longest := math.MaxInt64 / int64(time.Hour) / hours; ok && err == nil && 0 <= n && n <= longest {
			return time.Duration(n*hours) * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not an age such as 30d, 2w or 12h", s)
	}
	return d, nil
}
