package summary

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// timeLine says how long the first output took, what turns waited for, and what was
// slowest.
func (s *Summary) timeLine() []termtext.Span {
	var l line
	if s.Untimed {
		l.add(termtext.Dim, "no times on the tape")
		return l
	}
	if o := s.Time.FirstOutput; o != nil {
		l.add(termtext.Plain, o.text("first output after "))
	}
	if o := s.Time.Latency; o != nil {
		l.add(termtext.Plain, o.text("answered in "))
	}
	w := s.Time.Waited
	l.add(termtext.Plain, stats.WaitedText(trace.Spend{User: time.Duration(w.User), Client: time.Duration(w.Client), Tool: time.Duration(w.Tool), Agent: time.Duration(w.Agent)}))
	if step := s.Time.Slowest; step != nil && step.Took > 0 {
		l.add(termtext.Plain, fmt.Sprintf("slowest: %s, %s", step.What, step.Took))
		l = append(l, frame(step.Frame))
	}
	for i, slow := range s.Slow {
		if i == 0 {
			l.add(termtext.Permission, "slow: ")
		} else {
			l = append(l, termtext.Plain.Span(", "))
		}
		if slow.Count == 1 {
			l = append(l, termtext.Permission.Span(slow.Kind), frame(slow.Frame))
		} else {
			l = append(l, termtext.Permission.Span(fmt.Sprintf("%s %d times", slow.Kind, slow.Count)), termtext.Dim.Span(" from frame "+slow.Frame.Label+" on"))
		}
	}
	return l
}

// String formats a duration for display.
func (s seconds) String() string { return termtext.Duration(time.Duration(s)) }

func (s *Spread) text(label string) string {
	median, worst := s.Median.String(), s.Worst.String()
	if median == worst {
		return label + median
	}
	return fmt.Sprintf("%s%s (worst %s)", label, median, worst)
}

// usageLine says which tokens and costs the agent reported for the turns, or that it
// reported none.
func (s *Summary) usageLine() []termtext.Span {
	if s.Turns.Count == 0 {
		return nil
	}
	var l line
	u, t := s.Usage, s.Usage.Tokens
	count := func(label string, given bool, n uint64) string {
		if !given {
			return ""
		}
		return termtext.Grouped(int64(n)) + " " + label
	}
	text := commas(count("in", t.Input.Given, t.Input.N), count("out", t.Output.Given, t.Output.N),
		count("thought", t.Thought.Given, t.Thought.N), count("cached", t.CachedRead.Given, t.CachedRead.N))
	if text == "" {
		text = count("in all", t.Total.Given, t.Total.N)
	}
	switch {
	case text == "":
	case u.Running:
		l.add(termtext.Plain, "tokens: ~ "+text)
	case u.Turns < s.Turns.Count:
		l.add(termtext.Plain, fmt.Sprintf("tokens: %s in %d of %d turns", text, u.Turns, s.Turns.Count))
	default:
		l.add(termtext.Plain, "tokens: "+text)
	}
	if c := u.Context; c != nil && c.Size > 0 {
		text := fmt.Sprintf("context: %s of %s", termtext.Grouped(int64(c.Used)), termtext.Grouped(int64(c.Size)))
		if c.Peak > c.Used {
			text += ", at most " + termtext.Grouped(int64(c.Peak))
		}
		l.add(termtext.Plain, text)
	}
	s.addCosts(&l)
	if l == nil {
		l.add(termtext.Dim, "no tokens or cost reported")
	}
	return l
}

func (s *Summary) addCosts(l *line) {
	for _, c := range s.Usage.Costs {
		text := fmt.Sprintf("%s %s", termtext.Amount(c.Amount), termtext.Piece(c.Currency))
		if c.Sessions > 1 {
			text += fmt.Sprintf(" in %d sessions", c.Sessions)
		}
		l.add(termtext.Plain, text)
	}
}

// fewFailures is the most failures that are listed individually; beyond that, only the
// first of each kind is.
const fewFailures = 3

// failureLine says what failed.
func (s *Summary) failureLine() []termtext.Span {
	f, what := s.Failures, line(nil)
	tell := func(text string, spans ...termtext.Span) {
		if what != nil {
			what = append(what, termtext.Plain.Span(", "))
		}
		what = append(append(what, termtext.Red.Span(text)), spans...)
	}
	if f.Count <= fewFailures {
		for _, one := range f.First {
			tell(one.What, frame(one.Frame))
		}
	} else {
		for _, k := range f.Kinds {
			if k.Count == 1 {
				tell(k.What, frame(k.Frame))
			} else {
				tell(kindText(k.Kind, k.Count), termtext.Dim.Span(" from frame "+k.Frame.Label+" on"), termtext.Plain.Span(" ("+k.What+")"))
			}
		}
	}
	if s.Broken > 0 {
		tell(termtext.Counted(s.Broken, "part") + " of the tape cannot be read")
	}
	switch {
	case what != nil:
		return append(line{termtext.Red.Span("failed: ")}, what...)
	case s.Frames == 0:
		return nil
	}
	return line{termtext.Plain.Span("nothing failed")}
}

// kindText returns how many failures of a kind there are.
func kindText(kind dialect.Failure, n int) string {
	switch kind {
	case dialect.FailedRequest:
		return termtext.Counted(n, "error")
	case dialect.FailedTool:
		return termtext.Counted(n, "tool call")
	case dialect.Refused:
		return fmt.Sprintf("%d refused", n)
	case dialect.Unanswered:
		return fmt.Sprintf("%d without an answer", n)
	case dialect.InvalidLine:
		return termtext.Counted(n, "line") + " not JSON-RPC"
	case dialect.Gap:
		return termtext.Counted(n, "gap")
	case dialect.BadExit:
		return "the agent's end"
	}
	return fmt.Sprintf("%d %s", n, kind)
}

func frame(f Frame) termtext.Span { return termtext.Dim.Span(" (frame " + f.Label + ")") }
