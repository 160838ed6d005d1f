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

// filterHelp explains the language of --filter.
func filterHelp() string {
	return `
--filter takes terms side by side, all of which must match. | between terms
means that one of them must, ! before a term that it must not, and ( ) group. A
term is a word or a "text" anywhere in the frame, key:value, or .path:value for
the value at a gjson path. In place of the colon there may be = (exactly), ~
(RE2), > >= < <=, or a range such as seq:3..9. See acptap help filters. The
keys:

` + keyHelp()
}

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

// parseFilter parses a query. Its error shows the place in the query.
func parseFilter(query string) (filter.Filter, error) {
	f, err := filter.Parse(query)
	var wrong *filter.SyntaxError
	if errors.As(err, &wrong) {
		caret := strings.TrimSuffix(wrong.Caret(), "\n")
		return f, fmt.Errorf("filter: %w\n    %s", err, strings.ReplaceAll(caret, "\n", "\n    "))
	}
	return f, err
}

// A frameMatcher finds the frames of tapes that match a filter. Every frame has to
// be passed to it, in order: a filter may ask for what came before.
type frameMatcher struct {
	filter.Filter
	track filter.Tracker
}

// startTape begins a tape whose recording began at start.
func (m *frameMatcher) startTape(p part, start time.Time) {
	m.track.Next(start.Local())
	if m.NeedsFuture() {
		m.track.LookAhead(p.Tape.Rows(p.Run.First))
	}
}

// from returns the first frame of a part that the matcher needs in order to match
// those from a number on.
func (m *frameMatcher) from(p part, number uint64) uint64 {
	if m.NeedsPast() {
		return p.Run.First
	}
	return max(p.Run.First, number)
}

// matches reports whether the next frame of the tape matches.
func (m *frameMatcher) matches(f *dialect.Frame) bool {
	subject := m.track.Observe(f)
	return m.Match(&subject)
}

// frameFlags are the flags that select frames. Each of them is a term of the filter
// language.
type frameFlags struct {
	query                                   string
	methods, sessions, updates, dirs, kinds []string
	text                                    string
}

func (ff *frameFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&ff.query, "filter", "", "frames that match this `query`")
	f.StringSliceVar(&ff.methods, "method", nil, "frames of this `method`; * stands for any characters")
	f.StringSliceVar(&ff.sessions, "session", nil, "frames of the session with this `id`, or the beginning of it")
	f.StringSliceVar(&ff.updates, "update", nil, "updates of this `variant`, such as tool_call*")
	f.StringSliceVar(&ff.dirs, "dir", nil, "frames in this `direction`: c2a (from the client), a2c (from the agent) or err (stderr)")
	f.StringSliceVar(&ff.kinds, "kind", nil, "frames of this `kind`: request, response, notification, batch, invalid, oversized, stderr or mark; a beginning will do")
	f.StringVar(&ff.text, "text", "", "frames that contain this `text`; case counts if it has capital letters")
}

// filter returns the filter that the flags make together.
func (ff *frameFlags) filter() (filter.Filter, error) {
	all, err := parseFilter(ff.query)
	if err != nil {
		return filter.Filter{}, err
	}
	kinds := make([]string, len(ff.kinds))
	for i, word := range ff.kinds {
		k, err := filter.Kind(word)
		if err != nil {
			return filter.Filter{}, fmt.Errorf("--kind: %w", err)
		}
		kinds[i] = k.String()
	}
	for _, word := range ff.dirs {
		if _, err := filter.Direction(word); err != nil {
			return filter.Filter{}, fmt.Errorf("--dir: %w", err)
		}
	}
	var texts []string
	if ff.text != "" {
		texts = []string{ff.text}
	}
	for _, term := range []struct {
		key    string
		values []string
	}{
		{"method", ff.methods}, {"session", ff.sessions}, {"update", ff.updates}, {"dir", ff.dirs}, {"kind", kinds}, {"text", texts},
	} {
		if len(term.values) == 0 {
			continue
		}
		var any []filter.Filter
		for _, v := range term.values {
			f, err := filter.Is(term.key, v)
			if err != nil {
				return filter.Filter{}, fmt.Errorf("--%s: %w", term.key, err)
			}
			any = append(any, f)
		}
		all = filter.All(all, filter.Any(any...))
	}
	return all, nil
}
