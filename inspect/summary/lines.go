package summary

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// Lines returns the summary as six lines, or fewer if some have nothing to say. A line
// longer than width continues on the next, indented; with a width of 0 lines are not
// wrapped.
func (s Summary) Lines(width int) [][]termtext.Span {
	return wrapAll(width, s.tapeLine(), s.turnLine(), s.timeLine(), s.serverLine(), s.usageLine(), s.failureLine())
}

// Line returns the summary in one line, for a list of tapes: the newest tape, how it ended,
// the title, the agent, the turns, the time they took, the cost, and how much failed. It is
// wrapped as Lines are.
func (s Summary) Line(width int) [][]termtext.Span {
	if len(s.Tapes) == 0 {
		return nil
	}
	newest := s.Tapes[len(s.Tapes)-1]
	var l line
	l.add(termtext.Bold, tapetext.ShortID(newest.Tape))
	style, ending := s.Ending()
	l.add(style, cmp.Or(ending, dialect.Done.String()))
	if s.Sessions > 1 {
		l.add(termtext.Plain, termtext.Counted(s.Sessions, "session"))
	} else {
		l.add(termtext.Plain, termtext.Cut(termtext.Piece(s.Title), titleColumns))
	}
	l.add(termtext.Plain, termtext.Cut(termtext.Piece(agentName(newest)), titleColumns))
	if s.Turns.Count > 0 {
		l.add(termtext.Plain, termtext.Counted(s.Turns.Count, "turn"))
	}
	l.add(termtext.Plain, s.Length())
	s.addCosts(&l)
	if n := s.Failures.Count + s.Broken; n > 0 {
		l.add(termtext.Red, fmt.Sprint(n, " failed"))
	}
	return wrapAll(width, l)
}

// Head returns the lines above a conversation on a screen that already shows the tape and
// the title: the turns, their times, usage if it was reported, and failures if there are
// any.
func (s Summary) Head(width int) [][]termtext.Span {
	s.Title = ""
	lines := [][]termtext.Span{s.turnLine(), s.timeLine(), s.serverLine()}
	if s.Usage.reported() {
		lines = append(lines, s.usageLine())
	}
	if s.Failures.Count > 0 || s.Broken > 0 {
		lines = append(lines, s.failureLine())
	}
	return wrapAll(width, lines...)
}

func wrapAll(width int, lines ...[]termtext.Span) [][]termtext.Span {
	var all [][]termtext.Span
	for _, l := range lines {
		if len(l) > 0 {
			all = append(all, wrap(l, width)...)
		}
	}
	return all
}

// connection returns what both sides said about themselves on the newest tape.
func (s *Summary) connection() dialect.Connection { return s.Tapes[len(s.Tapes)-1].Connection }

// Outcome returns the outcome of the tapes.
func (s *Summary) Outcome() (o dialect.Outcome) {
	for _, i := range s.Tapes {
		o = o.Or(i.Outcome())
	}
	return o
}

// tapeLine says what the tape is. It omits an end without problems.
func (s *Summary) tapeLine() []termtext.Span {
	if len(s.Tapes) == 0 {
		return nil
	}
	c := s.connection()
	var l line
	l.add(termtext.Bold, termtext.Cut(termtext.Piece(agentName(s.Tapes[len(s.Tapes)-1])), titleColumns))
	l.add(termtext.Plain, termtext.Cut(termtext.Spaced(termtext.Piece(c.Client), termtext.Piece(c.ClientVersion)), titleColumns))
	l.add(termtext.Plain, termtext.Piece(c.Spoken()))
	if n := len(s.Tapes); n > 1 {
		l.add(termtext.Plain, fmt.Sprintf("%d tapes", n))
	}
	if t := s.Tapes[0].Start.Time; !t.IsZero() {
		l.add(termtext.Plain, tapetext.Time(t))
	}
	l.add(termtext.Plain, s.Length())
	style, text := s.Ending()
	l.add(style, text)
	return l
}

// Length formats how long the tapes took, up to the agent's exit if it was recorded. It
// is empty if unknown.
func (s *Summary) Length() string {
	if s.Untimed || s.Frames == 0 {
		return ""
	}
	return termtext.Duration(time.Duration(s.Took))
}

// Ending returns the outcome of the tapes, empty if all is well: Green if they are still
// being recorded, Red if something went wrong.
func (s *Summary) Ending() (termtext.Style, string) {
	style, o := termtext.Plain, s.Outcome()
	switch {
	case o.How == dialect.Done:
		return style, ""
	case o.How == dialect.Running:
		style = termtext.Green
	case o.How.IsBad():
		style = termtext.Red
	}
	return style, tapetext.OutcomeText(o)
}

func agentName(i record.Info) string {
	if i.Connection.Agent != "" {
		i.Start.Name = "" // as it calls itself
	}
	return tapetext.AgentName(i)
}

// isBad reports whether turns with this outcome went wrong.
func isBad(outcome string) bool {
	for how := dialect.Done; how <= dialect.Running; how++ {
		if how.String() == outcome {
			return how.IsBad()
		}
	}
	return false
}

// turnLine says how many turns there are and how they ended, or, without turns, what was
// called.
func (s *Summary) turnLine() []termtext.Span {
	var l line
	if s.Turns.Count > 0 {
		ends := slices.Clone(s.Turns.Ends)
		if s.Turns.Running > 0 {
			ends = append(ends, Count{"running", s.Turns.Running})
		}
		l = append(l, termtext.Plain.Span(termtext.Counted(s.Turns.Count, "turn")+": "))
		for i, text := range listed(ends) {
			if i > 0 {
				l = append(l, termtext.Plain.Span(", "))
			}
			style := termtext.Plain // only what went wrong is coloured
			if isBad(ends[i].What) {
				style = termtext.Red
			}
			l = append(l, style.Span(text))
		}
	} else {
		s.addCalls(&l)
	}
	if s.Sessions > 1 {
		l.add(termtext.Plain, termtext.Counted(s.Sessions, "session"))
	} else if s.Title != "" {
		l.add(termtext.Plain, "session"+quoted(s.Title))
	}
	return l
}

// addCalls says what was called.
func (s *Summary) addCalls(l *line) {
	var methods, tools []Count
	calls := 0
	for _, c := range s.Calls {
		methods, calls = append(methods, Count{c.Method, c.Count}), calls+c.Count
		tools = append(tools, c.Tools...)
	}
	switch {
	case calls > 0:
		l.add(termtext.Plain, termtext.Counted(calls, "call")+": "+list(methods))
		l.add(termtext.Plain, termtext.Labelled("tools:", list(tools)))
	case s.Frames == 0:
		l.add(termtext.Plain, "no frames")
	default:
		l.add(termtext.Plain, "no turns and no calls")
	}
}
