package summary

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// tapeLine says how the tapes came out, how long they took, and who took part.
func (s *Summary) tapeLine() []termtext.Span {
	if len(s.Tapes) == 0 {
		return nil
	}
	l := s.verdict(0)
	l.add(termtext.Slow, s.OpenText())
	l.add(termtext.Plain, s.Length())
	if peers := s.peers(); len(peers) > 0 {
		l = append(append(l, dot), peers...)
	}
	return l
}

// Verdict says how the tapes came out. It is green only if a prompt was sent and,
// as far as is known, nothing is left.
func (s *Summary) Verdict() termtext.Span {
	how := tapetext.OutcomeSpan(s.Outcome())
	if s.connection().Protocol == dialect.MCP {
		how.Text = strings.Replace(how.Text, dialect.Died.String(), serverDied, 1)
	}
	switch {
	case how.Style != termtext.Good:
	case s.NotPrompted():
		how.Style = termtext.Plain
	case s.Failures.Unmended > 0, len(s.Left) > 0:
		how.Style = termtext.Slow
	}
	return how
}

// serverDied stands for the words for an agent that died if it is a server.
const serverDied = "server died"

// verdict returns the Verdict, and in which turn that was. The text of the Verdict is cut to a
// width, unless that is 0.
func (s *Summary) verdict(width int) (l line) {
	how := s.Verdict()
	if width > 0 {
		how.Text = termtext.Cut(how.Text, width)
	}
	l.add(how.Style, termtext.Spaced(how.Text, s.Where()))
	return l
}

// Where returns the turn that the outcome is of, if that is not the last one of its session, and
// whether the last one is done, such as "in turn 5, then done"; otherwise nothing.
func (s *Summary) Where() string {
	how := s.Outcome()
	i := slices.IndexFunc(s.Exchanges, func(e Exchange) bool { return e.Outcome == how && how.How > dialect.Done })
	if i < 0 {
		return ""
	}
	one := s.Exchanges[i]
	last := one
	for _, e := range s.Exchanges {
		if e.Session == one.Session {
			last = e
		}
	}
	where := fmt.Sprint("in turn ", one.Turn)
	if one.Session > 0 {
		where += fmt.Sprint(" of session ", one.Session)
	}
	switch {
	case last.Outcome == how && one.Session == 0:
		return ""
	case last.Outcome.How == dialect.Done:
		where += thenDone
	}
	return where
}

const thenDone = ", then done"

// NotPrompted reports whether sessions were opened and no prompt was sent.
func (s *Summary) NotPrompted() bool { return s.Turns.Count == 0 && s.Sessions > 0 }

// Unprompted stands in place of what was asked if the tapes have no prompt: of MCP what was called. It is empty if they do.
func (s *Summary) Unprompted() string {
	switch {
	case len(s.Called) > 0:
		return termtext.Dotted("no prompt (MCP) · "+s.Did(), s.aboutText())
	case s.NotPrompted():
		return "no prompt was sent"
	}
	return ""
}

// peers says who took part, and when.
func (s *Summary) peers() []termtext.Span {
	c := s.connection()
	var l line
	l.add(termtext.Bold, agentName(s.Tapes[len(s.Tapes)-1]))
	l.add(termtext.Plain, tapetext.Peer(c.ClientTitle, c.Client, c.ClientVersion, titleColumns))
	l.add(termtext.Plain, termtext.Piece(c.Spoken()))
	if n := len(s.Tapes); n > 1 {
		l.add(termtext.Plain, fmt.Sprintf("%d tapes", n))
	}
	if t := s.Tapes[0].Start.Time; !t.IsZero() {
		l.add(termtext.Plain, t.Local().Format("2006-01-02 15:04"))
	}
	return l
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

// Length formats how long the tapes took, up to the agent's exit if it was recorded. It
// is empty if unknown.
func (s *Summary) Length() string {
	if s.Untimed || s.Frames == 0 {
		return ""
	}
	return termtext.Duration(time.Duration(s.Took))
}

func agentName(i record.Info) string {
	if c := i.Connection; c.Agent != "" { // as it calls itself
		return tapetext.Peer(c.AgentTitle, c.Agent, c.AgentVersion, titleColumns)
	}
	return termtext.Cut(termtext.Piece(tapetext.AgentName(i)), titleColumns)
}
