package trace

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// Text says how to format a conversation as text.
type Text struct {
	Width  int         // columns; 0: lines are not wrapped
	Lines  int         // of a tool's content, a terminal's output or a resource; 0: all
	Color  bool        // with ANSI colours
	Starts []time.Time // when each tape began, to show times of day; if missing, times count from there

	// Below returns further lines about an entity, as clean text, or nil if there are
	// none.
	Below func(e *Entity) []termtext.Span
}

// WriteText writes a conversation as text for a terminal. No control character that
// came over the wire reaches w.
func WriteText(w io.Writer, c *Conversation, form Text) error {
	b := bufio.NewWriter(w)
	p := printer{Text: form, w: b, c: c, shown: c.OwnTerminals()}
	ended := 0 // turns whose end has been written
	for _, e := range InPlace(c.Entities) {
		if p.hidden(e) {
			continue
		}
		for e.Above == nil && ended < len(c.Turns) && c.Turns[ended].Number < e.Turn {
			p.endOfTurn(c.Turns[ended])
			ended++
		}
		p.blank()
		p.entity(e)
		p.below(e)
	}
	for _, t := range c.Turns[ended:] {
		p.endOfTurn(t)
	}
	return b.Flush()
}

// A printer writes a conversation. It leaves errors to w, which keeps the first one.
type printer struct {
	Text
	w     *bufio.Writer
	c     *Conversation
	shown map[*Terminal]bool // already shown with their tool call
	begun bool               // something has been written

	margin string // margin for entities below another one
}

// hidden reports whether e is not shown at its own place.
func (p *printer) hidden(e *Entity) bool {
	return e.Terminal != nil && p.shown[e.Terminal] || e.Message != nil && e.Message.Blocks.Empty()
}

// blank writes the empty line between two parts.
func (p *printer) blank() {
	if p.begun {
		p.w.WriteByte('\n')
	}
	p.begun = true
}

// line writes one line of clean text.
func (p *printer) line(indent string, s termtext.Style, text string) {
	if text != "" {
		p.w.WriteString(p.margin + indent)
		p.w.WriteString(p.paint(s, text))
	}
	p.w.WriteByte('\n')
}

func (p *printer) paint(s termtext.Style, text string) string {
	if !p.Color {
		return text
	}
	return s.Paint(text)
}

// head writes the first line of an entity: what it is, and when it began.
func (p *printer) head(e *Entity, s termtext.Style, what string) {
	when := p.when(&e.Span)
	if e.Replayed {
		when += " · from the replay of a load"
	}
	if p.Width > 0 {
		what = termtext.Cut(what, max(1, p.Width/2, p.inner("")-termtext.Width(when)-2))
	}
	p.w.WriteString(p.margin + p.paint(s, what) + "  " + p.paint(termtext.Dim, when) + "\n")
}

// when returns the time of day, or the time since the tape began, or a question mark
// if the time is unknown.
func (p *printer) when(at *Span) string {
	if !at.Untimed && at.Run < len(p.Starts) {
		return p.Starts[at.Run].Add(at.Began).Format(time.TimeOnly)
	}
	since := "?"
	if !at.Untimed {
		since = fmt.Sprintf("+%.3fs", at.Began.Seconds())
	}
	if at.Run > 0 {
		since = fmt.Sprintf("tape %d %s", at.Run+1, since)
	}
	return since
}

// body writes text from the wire, wrapped.
func (p *printer) body(indent string, s termtext.Style, text string) {
	text = strings.Trim(termtext.Text(text), "\n")
	if text == "" {
		return
	}
	for _, line := range termtext.Wrap(text, p.inner(indent)) {
		p.line(indent, s, line)
	}
}

func (p *printer) inner(indent string) int {
	if p.Width <= 0 {
		return 0
	}
	return max(1, p.Width-len(p.margin)-len(indent))
}

// fit cuts a line to the remaining width.
func (p *printer) fit(indent, line string) string {
	if p.Width <= 0 {
		return line
	}
	return termtext.Cut(line, p.inner(indent))
}

// excerpt writes the first lines, each cut to the width.
func (p *printer) excerpt(indent string, lines []string, look func(line string) termtext.Style) {
	rest := 0
	if p.Lines > 0 && len(lines) > p.Lines+1 { // the omission note would take one line too
		rest = len(lines) - p.Lines
		lines = lines[:p.Lines]
	}
	for _, line := range lines {
		p.line(indent, look(line), p.fit(indent, line))
	}
	if rest > 0 {
		p.line(indent, termtext.Dim, fmt.Sprintf("… %d more lines", rest))
	}
}

// quote writes an excerpt of text from the wire.
func (p *printer) quote(indent, text string) {
	text = strings.Trim(termtext.Text(text), "\n")
	if text == "" {
		return
	}
	p.excerpt(indent, strings.Split(text, "\n"), func(string) termtext.Style { return termtext.Dim })
}

// tail writes the last lines of text from the wire.
func (p *printer) tail(indent, text string) {
	lines := strings.Split(strings.Trim(termtext.Text(text), "\n"), "\n")
	if n := len(lines) - p.Lines; p.Lines > 0 && n > 1 {
		p.line(indent, termtext.Dim, fmt.Sprintf("… %d lines before", n))
		lines = lines[n:]
	}
	p.quote(indent, strings.Join(lines, "\n"))
}

func (p *printer) endOfTurn(t *Turn) {
	s := termtext.Dim
	switch {
	case t.Outcome.How.IsBad():
		s = termtext.Failure
	case t.Open():
		s = termtext.Permission
	}
	p.margin = ""
	text := fmt.Sprintf("── turn %d: %s", t.Number, t.ending())
	if p.Width > 0 {
		text = termtext.Cut(text, p.Width)
	}
	p.blank()
	p.line("", s, text)
}

// ending returns how the turn ended and how long it took.
func (t *Turn) ending() string {
	text := oneLine(t.Outcome.String())
	if t.Cancelled && t.Outcome.How != dialect.Cancelled {
		text += ", cancelled by the client"
	}
	if !t.Open() {
		text += t.took()
	}
	return text
}
