package check

import (
	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
)

// A demand is a query of --expect or --forbid.
type demand struct {
	filter.Filter
	text   string
	forbid bool
}

// demands parses the queries.
func (c *Flags) demands() (all []demand, err error) {
	for _, list := range []struct {
		texts  []string
		forbid bool
	}{{c.expect, false}, {c.forbid, true}} {
		for _, text := range list.texts {
			f, err := query.Parse(text)
			if err != nil {
				return nil, err
			}
			all = append(all, demand{f, text, list.forbid})
		}
	}
	return all, nil
}

// ownRules returns the rules to judge outside of a checker.
func (r *run) ownRules() (rules []*conform.Rule) {
	if len(r.expect) > 0 {
		rules = append(rules, report.Expect)
	}
	if len(r.forbid) > 0 {
		rules = append(rules, report.Forbid)
	}
	if r.watches {
		rules = append(rules, report.Watch)
	}
	return rules
}

// queries matches the frames of a subject against the demands.
type queries struct {
	query.Matcher // combines the filters of all demands
	demands       []demand
	met           []bool
}

func newQueries(demands []demand) queries {
	q := queries{demands: demands, met: make([]bool, len(demands))}
	var all []filter.Filter
	for _, d := range demands {
		all = append(all, d.Filter)
	}
	q.Filter = filter.Any(all...)
	return q
}

// frame matches a frame of a part against the queries and returns the forbidden matches.
func (q *queries) frame(f *dialect.Frame, part *reading.Part) (found []conform.Finding) {
	if len(q.demands) == 0 {
		return nil
	}
	s := q.Observe(f)
	for i, d := range q.demands {
		switch {
		case !part.Holds(f) || !d.forbid && q.met[i] || !d.Match(&s):
		case d.forbid:
			found = append(found, forbidden(d.text, &s, part.Index))
		default:
			q.met[i] = true
		}
	}
	return found
}

// forbidden returns the finding for a frame that matches a query. It blames no one: the query
// is the user's.
func forbidden(text string, s *filter.Subject, tape int) conform.Finding {
	f := conform.Finding{
		Rule: report.Forbid, Clause: &report.Forbid.Clauses[0], Strength: conform.Violation, Tape: tape,
		Session: s.Session, At: s.At, Method: s.Method, Update: s.Update,
	}
	f.Text, f.Seq, f.Entry = "fits "+text, s.Seq, -1
	if s.Latency > 0 {
		f.Text += ", " + termtext.Duration(s.Latency) + " after its request"
	}
	return f
}

// end returns the findings for queries that matched no frame.
func (q *queries) end(tape int) (found []conform.Finding) {
	for i, d := range q.demands {
		if d.forbid || q.met[i] {
			continue
		}
		f := conform.Finding{Rule: report.Expect, Clause: &report.Expect.Clauses[0], Strength: conform.Violation, Tape: tape}
		f.Text, f.Entry = "no frame fits "+d.text, -1
		found = append(found, f)
	}
	return found
}
