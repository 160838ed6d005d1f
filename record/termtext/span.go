package termtext

import "strings"

// A Span is a part of a line in one style. It is clean.
type Span struct {
	Style Style
	Text  string
}

// Span returns text in the style.
func (s Style) Span(text string) Span { return Span{s, text} }

// Line returns a line of text in the style.
func (s Style) Line(text string) []Span { return []Span{s.Span(text)} }

// Painted returns the span for a terminal. Blanks have no colour.
func (s Span) Painted() string {
	if strings.TrimSpace(s.Text) == "" {
		return s.Text
	}
	return s.Style.Paint(s.Text)
}

// SpansText returns the text of spans, painted for a terminal if color.
func SpansText(spans []Span, color bool) string {
	if len(spans) == 1 && !color {
		return spans[0].Text
	}
	var b strings.Builder
	for _, s := range spans {
		if color {
			s.Text = s.Painted()
		}
		b.WriteString(s.Text)
	}
	return b.String()
}

// CutSpans returns spans in at most that many columns. They end in an ellipsis if anything is
// left out.
func CutSpans(spans []Span, columns int) []Span {
	if SpansWidth(spans) <= columns {
		return spans
	}
	var short []Span
	for _, s := range spans {
		n := Width(s.Text)
		if n >= columns {
			s.Text = Cut(s.Text+"…", columns) // the spans that follow are missing too
			return append(short, s)
		}
		short = append(short, s)
		columns -= n
	}
	return short
}

// SpansWidth returns the width of spans in columns.
func SpansWidth(spans []Span) int {
	columns := 0
	for _, s := range spans {
		columns += Width(s.Text)
	}
	return columns
}

// Spans parses a line for a terminal with one parameter of SGR at a time, as [Style.Paint]
// writes it.
func Spans(line string) []Span {
	var spans []Span
	look := Plain
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			spans = append(spans, look.Span(text))
		}
		if !found {
			break
		}
		param, after, _ := strings.Cut(rest, "m")
		if look = Style(param); param == "0" {
			look = Plain
		}
		line = after
	}
	return spans
}
