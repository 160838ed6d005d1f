package summary

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// dot separates the parts of a line.
var dot = termtext.Dim.Span(" · ")

// A line consists of parts with dots between them.
type line []termtext.Span

// add adds a part, unless it is empty.
func (l *line) add(style termtext.Style, text string) {
	if text == "" {
		return
	}
	if *l != nil {
		*l = append(*l, dot)
	}
	*l = append(*l, style.Span(text))
}

// commas joins the non-empty parts.
func commas(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p != "" && b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p)
	}
	return b.String()
}

// fewNames is the number of names listed; the rest are counted.
const fewNames = 4

// listedColumns limits the columns of a name, which may be those of several files.
const listedColumns = 2 * titleColumns

// list returns names with their counts.
func list(counts []Count) string { return strings.Join(listed(counts), ", ") }

func listed(counts []Count) []string {
	var names []string
	rest := 0
	for i, c := range counts {
		switch {
		case i >= fewNames && len(counts) > fewNames+1:
			rest += c.Count
		case c.Count == 1:
			names = append(names, termtext.Cut(termtext.Piece(c.What), listedColumns))
		default:
			names = append(names, fmt.Sprintf("%s ×%s", termtext.Cut(termtext.Piece(c.What), listedColumns), termtext.Grouped(int64(c.Count))))
		}
		if c.failed > 0 && rest == 0 {
			names[len(names)-1] += fmt.Sprintf(" (%s failed)", termtext.Grouped(int64(c.failed)))
		}
	}
	if rest > 0 {
		names = append(names, fmt.Sprintf("%d others", rest))
	}
	return names
}

// indent begins a line that continues one without a label.
const indent = "  "

// wrap divides a line into lines of at most width columns: between its parts or after a
// comma, otherwise between words. All but the first begin with the indent.
func wrap(spans []termtext.Span, width int, indent string) [][]termtext.Span {
	if len(spans) == 0 {
		return nil
	}
	if width <= 0 || termtext.SpansWidth(spans) <= width {
		return [][]termtext.Span{spans}
	}
	w := wrapper{width: max(width, len(indent)+1), indent: indent}
	var chunk []termtext.Span
	for _, s := range spans {
		if s == dot {
			w.add(chunk)
			chunk = nil
		}
		for _, text := range strings.SplitAfter(s.Text, ", ") {
			chunk = append(chunk, s.Style.Span(text))
			if strings.HasSuffix(text, ", ") {
				w.add(chunk)
				chunk = nil
			}
		}
	}
	w.add(chunk)
	return append(w.lines, w.current)
}

// wrapWords divides a line into lines of at most width columns, between words. All but the
// first begin with the indent.
func wrapWords(spans []termtext.Span, width int, indent string) [][]termtext.Span {
	if width <= 0 || termtext.SpansWidth(spans) <= width {
		return [][]termtext.Span{spans}
	}
	w := wrapper{width: max(width, len(indent)+1), indent: indent}
	w.add(spans)
	return append(w.lines, w.current)
}

// A wrapper puts chunks into lines.
type wrapper struct {
	width   int
	indent  string
	lines   [][]termtext.Span
	current []termtext.Span
}

// add puts a chunk into the current line if there is room, otherwise into the next,
// divided if necessary.
func (w *wrapper) add(chunk []termtext.Span) {
	if w.fits(chunk) {
		w.current = append(w.current, chunk...)
		return
	}
	chunk = w.begin(chunk)
	if w.fits(chunk) {
		w.current = append(w.current, chunk...)
		return
	}
	for _, s := range chunk {
		for _, word := range unbroken(s.Text) {
			one := []termtext.Span{s.Style.Span(word)}
			if !w.fits(one) && termtext.SpansWidth(w.current) > len(w.indent) {
				one = w.begin(one)
			}
			if room := w.width - termtext.SpansWidth(w.current); !w.fits(one) {
				one[0].Text = termtext.Cut(word, max(room, 1))
			}
			w.put(one[0])
		}
	}
}

// unbroken divides a text after blanks, but for those in "(frame 7)" and after an arrow.
func unbroken(text string) (words []string) {
	for _, word := range strings.SplitAfter(text, " ") {
		if n := len(words); n > 0 && (strings.HasSuffix(words[n-1], "(frame ") || words[n-1] == "→ ") {
			words[n-1] += word
		} else {
			words = append(words, word)
		}
	}
	return words
}

// put adds a span to the current line.
func (w *wrapper) put(one termtext.Span) {
	if n := len(w.current); n > 0 && w.current[n-1].Style == one.Style && w.current[n-1] != dot {
		w.current[n-1].Text += one.Text
		return
	}
	w.current = append(w.current, one)
}

// fits reports whether there is room for a chunk, not counting a trailing blank.
func (w *wrapper) fits(chunk []termtext.Span) bool {
	n := termtext.SpansWidth(w.current) + termtext.SpansWidth(chunk)
	if len(chunk) > 0 && strings.HasSuffix(chunk[len(chunk)-1].Text, " ") {
		n--
	}
	return n <= w.width
}

// begin begins a line, unless the first one is still empty, and returns the chunk without
// its leading dot.
func (w *wrapper) begin(chunk []termtext.Span) []termtext.Span {
	if len(chunk) > 0 && chunk[0] == dot {
		chunk = chunk[1:]
	}
	if len(w.current) == 0 {
		return chunk
	}
	for i := len(w.current) - 1; i >= 0 && strings.HasSuffix(w.current[i].Text, " "); i-- {
		if w.current[i].Text = strings.TrimRight(w.current[i].Text, " "); w.current[i].Text == "" {
			w.current = w.current[:i]
		} else {
			break
		}
	}
	w.lines, w.current = append(w.lines, w.current), []termtext.Span{termtext.Plain.Span(w.indent)}
	return chunk
}
