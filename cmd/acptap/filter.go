package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// filterHelp tells of the language of --filter.
var filterHelp = `
--filter takes terms, side by side (all must fit), with | between them (one
must), behind ! (must not) and in ( ): words and "texts" that stand in the
frame, key:value, and .path:value for what stands at a path of gjson in it.
Instead of the colon there may be = (exactly), ~ (RE2), > >= < <=, or a range as
in seq:3..9. The keys:

` + keyHelp()

func keyHelp() string {
	var b strings.Builder
	for _, k := range filter.Keys() {
		means := k.Means
		if len(k.Words) > 0 {
			means = strings.Join(k.Words, " ")
		}
		fmt.Fprintf(&b, "  %-7s  %s\n", k.Name, means)
	}
	return b.String()
}

// parseFilter reads a query of the user.
func parseFilter(query string) (filter.Filter, error) {
	f, err := filter.Parse(query)
	var wrong *filter.SyntaxError
	if errors.As(err, &wrong) {
		caret := strings.TrimSuffix(wrong.Caret(), "\n")
		return f, fmt.Errorf("filter: %w\n    %s", err, strings.ReplaceAll(caret, "\n", "\n    "))
	}
	return f, err
}

// A sieve lets those frames of tapes pass that a filter wants.
type sieve struct {
	filter.Filter
	track filter.Tracker
}

// next begins a tape, of which start is the first time.
func (s *sieve) next(p part, start time.Time) {
	s.track.Next(start.Local())
	if s.NeedsFuture() {
		s.track.LookAhead(p.Tape.Rows(p.Run.First))
	}
}

// from returns the first frame of a part that has to be seen, if those from a
// number on are of interest.
func (s *sieve) from(p part, number uint64) uint64 {
	if s.NeedsPast() {
		return p.Run.First
	}
	return max(p.Run.First, number)
}

// wants takes the next frame.
func (s *sieve) wants(f *dialect.Frame) bool {
	subject := s.track.See(f)
	return s.Match(&subject)
}

// picks are the flags that pick frames. All of them are words of the filter
// language.
type picks struct {
	query                                   string
	methods, sessions, updates, dirs, kinds []string
	text                                    string
}

func (p *picks) flags(f *pflag.FlagSet) {
	f.StringVar(&p.query, "filter", "", "frames that fit this `query`")
	f.StringSliceVar(&p.methods, "method", nil, "frames of this `method`; * stands for any characters")
	f.StringSliceVar(&p.sessions, "session", nil, "frames of this session, given by its `id` or the beginning of it")
	f.StringSliceVar(&p.updates, "update", nil, "updates of this `variant`, such as tool_call*")
	f.StringSliceVar(&p.dirs, "dir", nil, "frames in this `direction`: c2a (client), a2c (agent) or err (stderr)")
	f.StringSliceVar(&p.kinds, "kind", nil, "frames of this `kind`: request, response, notification, batch, invalid, oversized, stderr or mark; the beginning will do")
	f.StringVar(&p.text, "text", "", "frames with this `text` in them; case counts if it has capital letters")
}

// filter returns what all of the flags want.
func (p *picks) filter() (filter.Filter, error) {
	all, err := parseFilter(p.query)
	if err != nil {
		return filter.Filter{}, err
	}
	kinds := make([]string, len(p.kinds))
	for i, word := range p.kinds {
		k, err := filter.Kind(word)
		if err != nil {
			return filter.Filter{}, fmt.Errorf("--kind: %w", err)
		}
		kinds[i] = k.String()
	}
	for _, word := range p.dirs {
		if _, err := filter.Direction(word); err != nil {
			return filter.Filter{}, fmt.Errorf("--dir: %w", err)
		}
	}
	var texts []string
	if p.text != "" {
		texts = []string{p.text}
	}
	for _, pick := range []struct {
		key    string
		values []string
	}{
		{"method", p.methods}, {"session", p.sessions}, {"update", p.updates}, {"dir", p.dirs}, {"kind", kinds}, {"text", texts},
	} {
		if len(pick.values) == 0 {
			continue
		}
		var any []filter.Filter
		for _, v := range pick.values {
			f, err := filter.Is(pick.key, v)
			if err != nil {
				return filter.Filter{}, fmt.Errorf("--%s: %w", pick.key, err)
			}
			any = append(any, f)
		}
		all = filter.All(all, filter.Any(any...))
	}
	return all, nil
}
