// Package query holds what commands with --filter and its shorthands share: the flags,
// the help about the language, errors that point into the query, and in-order matching of
// frames.
package query

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// Parse parses a query. Its error points into the query.
func Parse(query string) (filter.Filter, error) {
	f, err := filter.Parse(query)
	var wrong *filter.SyntaxError
	if errors.As(err, &wrong) {
		caret := strings.TrimSuffix(wrong.Caret(), "\n")
		return f, fmt.Errorf("filter: %w\n    %s", err, strings.ReplaceAll(caret, "\n", "\n    "))
	}
	return f, err
}

// A Matcher finds the frames of tapes that match a filter. It must see every frame in
// order, because a filter may ask about earlier ones.
type Matcher struct {
	filter.Filter
	LookAhead bool // look ahead even if the filter does not need it; Subject.Unanswered does
	track     filter.Tracker
	found     *tapecheck.Findings // set if the filter needs them
	tapes     int                 // tapes started so far
}

// Judge finds the findings on tapes if the filter asks about them. The caller must start
// these tapes next.
func (m *Matcher) Judge(ctx context.Context, tapes ...*record.Tape) (err error) {
	m.found, m.tapes = nil, 0
	if m.NeedsFindings() {
		m.found, err = tapecheck.Find(ctx, tapes...)
	}
	return err
}

// StartTape starts a tape.
func (m *Matcher) StartTape(p *reading.Part) {
	m.track.Next(p.Info.Start.Time.Local())
	m.track.Server = p.Info.Start.Parent.Server
	if m.LookAhead || m.NeedsFuture() {
		m.track.LookAhead(p.Tape.Rows(p.From), !p.Info.Live)
	}
	if m.found != nil {
		m.track.Findings = m.found.On(m.tapes)
	}
	m.tapes++
}

// From returns the first frame of a part beginning with frame first that the matcher must
// see in order to match frames from number on.
func (m *Matcher) From(first, number uint64) uint64 {
	if m.NeedsPast() || m.NeedsFindings() {
		return first
	}
	return max(first, number)
}

// Matches reports whether the next frame of the tape matches.
func (m *Matcher) Matches(f *dialect.Frame) bool {
	subject := m.Observe(f)
	return m.Match(&subject)
}

// Observe processes the next frame of the tape and returns it in the form that filters
// expect.
func (m *Matcher) Observe(f *dialect.Frame) filter.Subject {
	if m.found != nil && m.tapes == m.found.Tapes() { // a live tape may have grown
		m.found.Add(f)
	}
	return m.track.Observe(f)
}

// Flags are the flags that select frames. Each of them is a term of the filter language.
type Flags struct {
	Query    string   // a whole query, which must match too
	Sessions []string // IDs or prefixes of them

	methods, updates, dirs, kinds []string
	text                          string
}

// Register adds the flags to a command's flags.
func (ff *Flags) Register(f *pflag.FlagSet) {
	f.StringVar(&ff.Query, "filter", "", "frames that match this `query`")
	f.StringSliceVar(&ff.methods, "method", nil, "frames of this `method`; * matches any characters")
	f.StringSliceVar(&ff.Sessions, "session", nil, "frames of the session with this `id`, or the beginning of it")
	f.StringSliceVar(&ff.updates, "update", nil, "updates of this `variant`, such as tool_call*")
	f.StringSliceVar(&ff.dirs, "dir", nil, "frames in this `direction`: c2a (from the client), a2c (from the agent) or err (stderr)")
	f.StringSliceVar(&ff.kinds, "kind", nil, "frames of this `kind`: request, response, notification, batch, invalid, oversized, stderr, mark or body; a beginning will do")
	f.StringVar(&ff.text, "text", "", "frames that contain this `text`; case counts if it has capital letters")
}

// Filter combines all flags into one filter.
func (ff *Flags) Filter() (filter.Filter, error) {
	all, err := Parse(ff.Query)
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
		{"method", ff.methods}, {"session", ff.Sessions}, {"update", ff.updates}, {"dir", ff.dirs}, {"kind", kinds}, {"text", texts},
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
