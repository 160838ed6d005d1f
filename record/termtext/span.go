package termtext

import (
	"slices"
	"strings"
)

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

// FitSpans returns spans in exactly that many columns, one or more: cut as by CutSpans,
// or padded with blanks.
func FitSpans(spans []Span, columns int) []Span {
	spans = slices.Clip(CutSpans(spans, columns))
	return append(spans, Plain.Span(strings.Repeat(" ", max(columns-SpansWidth(spans), 0))))
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

// A Style is the parameters of the ECMA-48 sequence SGR.
type Style string

// The styles.
const (
	Plain   Style = ""
	Bold    Style = "1"
	Dim     Style = "2"
	Reverse Style = "7"
	Red     Style = "31"
	Green   Style = "32"
	Yellow  Style = "33"
	Blue    Style = "94" // the bright one: the other is unreadable on black
	Magenta Style = "35"
	Cyan    Style = "36"
	Azure   Style = "96" // the bright cyan
)

// The roles of styles: what a colour means, everywhere. No information is in the colour
// alone.
const (
	Conversation = Green
	Tools        = Cyan
	Servers      = Azure  // called by an agent for a tool
	Permission   = Yellow // also: waiting for someone
	Services     = Magenta
	LifeCycle    = Blue
	Good         = Green
	Slow         = Yellow
	Failure      = Red
	FirstRun     = Blue    // of two that are compared
	SecondRun    = Yellow  // neither is good or bad
	Match        = Reverse // of a search
	Repeats      = Dim     // repeated from the lines above, or in order
)

// Paint returns text in a style, followed by a reset.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
