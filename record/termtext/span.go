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

// SpansWidth returns how many columns spans take.
func SpansWidth(spans []Span) int {
	columns := 0
	for _, s := range spans {
		columns += Width(s.Text)
	}
	return columns
}

// Spans reads a line that was written for a terminal, with one parameter of SGR
// at a time, as [Style.Paint] writes it.
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
