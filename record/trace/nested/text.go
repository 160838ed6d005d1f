package nested

import (
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Lines returns the lines to show below an entity of a session: one for each call that belongs
// to it or follows it in the turn, or a line that says why there is none. The text is clean.
func (j *Join) Lines(session string, e *trace.Entity) []termtext.Span {
	var lines []termtext.Span
	for _, c := range j.Of(e) {
		lines = append(lines, c.Line())
	}
	if e.ToolCall != nil {
		if m := j.Missing(session, e); m != NotMissing {
			lines = append(lines, termtext.Dim.Span("↳ "+m.String()))
		}
	}
	return lines
}

// Line describes the call: its target, duration, evidence and problem.
// went wrong.
func (c Joined) Line() termtext.Span {
	sign, by := "↳ ", "by "+c.By.String()
	if c.By == NoEvidence {
		sign, by = "· ", "in this turn"
	}
	text := termtext.Spaced(sign+c.Title(), c.took(), "("+by+")")
	switch {
	case c.Failed:
		return termtext.Failure.Span(termtext.Dotted(text, termtext.Labelled("failed:", termtext.Piece(c.Problem))))
	case c.Cancelled:
		text = termtext.Dotted(text, "cancelled")
	case c.Open():
		text = termtext.Dotted(text, termtext.Piece(c.Meanwhile.Latest))
	}
	for _, one := range c.Meanwhile.Asked {
		took := "no answer"
		if !one.Open {
			took = termtext.Duration(one.Took)
		}
		text = termtext.Dotted(text, termtext.Spaced(termtext.Piece(one.Method), took, one.Answer))
	}
	return termtext.Servers.Span(text)
}

// Title returns SERVER/TOOL, or SERVER METHOD NAME for anything but a call of a tool.
func (c *Call) Title() string {
	server, name := termtext.Piece(c.Tape.Server), termtext.Piece(c.Name)
	if c.IsTool() {
		return server + "/" + name
	}
	return termtext.Spaced(server, termtext.Piece(c.Method), name)
}

// took returns the duration of the call as text.
func (c *Call) took() string {
	switch {
	case c.Open() && c.Tape.ended:
		return "no answer"
	case c.Open():
		return "running"
	case c.Untimed:
		return ""
	}
	return termtext.Duration(c.Took())
}

// Told is a call in its exported form.
type Told struct {
	Below     uint64   `json:"below"` // first frame of the tool call that it belongs to, or of what it followed
	By        Evidence `json:"by,omitzero"`
	Tape      string   `json:"tape"`
	Server    string   `json:"server"`
	Method    string   `json:"method"`
	Name      string   `json:"name,omitempty"`
	Request   uint64   `json:"request"`
	Response  uint64   `json:"response,omitempty"`
	Seconds   *float64 `json:"seconds,omitempty"` // nil: it has no answer, or its times are unknown
	Failed    bool     `json:"failed,omitempty"`
	Problem   string   `json:"problem,omitempty"`
	Cancelled bool     `json:"cancelled,omitempty"`
}

// Told returns the calls of a session in their exported form.
func (j *Join) Told(s *trace.Session) (list []Told) {
	for _, e := range s.Conversation.Entities {
		for _, c := range j.Of(e) {
			one := Told{
				Below: e.First, By: c.By, Tape: c.Tape.ID, Server: c.Tape.Server, Method: c.Method, Name: c.Name,
				Request: c.Request, Response: c.Response, Failed: c.Failed, Problem: c.Problem, Cancelled: c.Cancelled,
			}
			if !c.Open() && !c.Untimed {
				seconds := termtext.Seconds(c.Took()).Float()
				one.Seconds = &seconds
			}
			list = append(list, one)
		}
	}
	return list
}
