package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

// A style is what sequences of a terminal have set.
type style struct {
	fore, back         string // CSS colours, or empty
	bold, dim, italic  bool
	underline, reverse bool
}

// A cell is a character on a terminal.
type cell struct {
	text  string
	width int
	style style
}

// A palette has the colours of a terminal.
type palette struct {
	name, fore, back string
	colours          [16]string
}

var palettes = []palette{
	{"dark", "#d4d4d4", "#1a1b1e", [16]string{"#3b3f46", "#f14c4c", "#23d18b", "#e5c07b", "#3b8eea", "#d670d6", "#29b8db", "#cfd2d6", "#767c85", "#ff7b72", "#56e39f", "#f2d38b", "#6cb6ff", "#e29be2", "#6fd6ec", "#ffffff"}},
	{"light", "#1f2328", "#ffffff", [16]string{"#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#6e7781", "#57606a", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f"}},
}

// cells reads what a program wrote to a terminal of so many columns, or of any number if it
// is 0. Beyond colours it knows what a line of progress needs: back to the line's begin, and
// erasing to its end.
func cells(text string, p palette, columns int) [][]cell {
	rows := [][]cell{nil}
	column := 0 // counts cells
	var now style
	put := func(c cell) {
		row := &rows[len(rows)-1]
		if columns > 0 && width((*row)[:min(column, len(*row))])+c.width > columns {
			rows, column = append(rows, nil), 0
			row = &rows[len(rows)-1]
		}
		*row = append((*row)[:min(column, len(*row))], c)
		column = len(*row)
	}
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' }) + 2
			if end < 2 {
				return rows
			}
			switch text[end] {
			case 'm':
				now = now.set(text[2:end], p)
			case 'K':
				row := &rows[len(rows)-1]
				*row = (*row)[:min(column, len(*row))]
			}
			text = text[end+1:]
		case strings.HasPrefix(text, "\x1b]"):
			_, text, _ = strings.Cut(text, "\x1b\\")
		case text[0] == '\x1b':
			text = text[min(3, len(text)):] // a choice of character sets
		case text[0] == '\r' && !strings.HasPrefix(text, "\r\n"):
			column, text = 0, text[1:]
		case text[0] == '\n', text[0] == '\r':
			text = strings.TrimPrefix(text, "\r")[1:]
			rows, column = append(rows, nil), 0
		default:
			var cluster string
			var width int
			cluster, text, width, _ = uniseg.FirstGraphemeClusterInString(text, -1)
			put(cell{cluster, width, now})
		}
	}
	return rows
}

func width(row []cell) (columns int) {
	for _, c := range row {
		columns += c.width
	}
	return columns
}

// set returns the style after a sequence with these numbers.
func (s style) set(numbers string, p palette) style {
	var n []int
	for _, number := range strings.FieldsFunc(numbers, func(r rune) bool { return r == ';' || r == ':' }) {
		value, _ := strconv.Atoi(number)
		n = append(n, value)
	}
	if len(n) == 0 {
		return style{}
	}
	for len(n) > 0 {
		used := 1
		switch v := n[0]; {
		case v == 0:
			s = style{}
		case v == 1:
			s.bold = true
		case v == 2:
			s.dim = true
		case v == 3:
			s.italic = true
		case v == 4:
			s.underline = true
		case v == 7:
			s.reverse = true
		case v == 22:
			s.bold, s.dim = false, false
		case v == 23:
			s.italic = false
		case v == 24:
			s.underline = false
		case v == 27:
			s.reverse = false
		case v == 39:
			s.fore = ""
		case v == 49:
			s.back = ""
		case v == 38:
			s.fore, used = p.extended(n)
		case v == 48:
			s.back, used = p.extended(n)
		case v >= 30 && v < 38:
			s.fore = p.colours[v-30]
		case v >= 40 && v < 48:
			s.back = p.colours[v-40]
		case v >= 90 && v < 98:
			s.fore = p.colours[v-82]
		case v >= 100 && v < 108:
			s.back = p.colours[v-92]
		}
		n = n[used:]
	}
	return s
}

// extended returns the colour of 38;5;N or 38;2;R;G;B, and how many numbers it has.
func (p palette) extended(n []int) (colour string, used int) {
	switch {
	case len(n) >= 5 && n[1] == 2:
		return fmt.Sprintf("rgb(%d,%d,%d)", n[2], n[3], n[4]), 5
	case len(n) >= 3 && n[1] == 5 && n[2] < 16:
		return p.colours[n[2]], 3
	case len(n) >= 3 && n[1] == 5 && n[2] < 232:
		level := func(v int) int { return []int{0, 95, 135, 175, 215, 255}[v%6] }
		v := n[2] - 16
		return fmt.Sprintf("rgb(%d,%d,%d)", level(v/36), level(v/6), level(v)), 3
	case len(n) >= 3 && n[1] == 5:
		grey := 8 + 10*(n[2]-232)
		return fmt.Sprintf("rgb(%d,%d,%d)", grey, grey, grey), 3
	}
	return "", len(n)
}

func (s style) css(p palette) string {
	fore, back := s.fore, s.back
	if s.reverse {
		fore, back = back, fore
		if fore == "" {
			fore = p.back
		}
		if back == "" {
			back = p.fore
		}
	}
	var b strings.Builder
	if fore != "" {
		b.WriteString("color:" + fore + ";")
	}
	if back != "" {
		b.WriteString("background:" + back + ";")
	}
	if s.bold {
		b.WriteString("font-weight:bold;")
	}
	if s.dim {
		b.WriteString("opacity:.6;")
	}
	if s.italic {
		b.WriteString("font-style:italic;")
	}
	if s.underline {
		b.WriteString("text-decoration:underline;")
	}
	return b.String()
}

// page returns a terminal's text as HTML. Characters outside ASCII have a box of their own,
// so that a font without them moves nothing.
func (p palette) page(text string, columns int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<pre style="margin:0;padding:8px;width:%dch;color:%s;background:%s;font:14px/17px 'DejaVu Sans Mono',monospace">`, columns, p.fore, p.back)
	for _, row := range cells(strings.TrimRight(text, "\r\n"), p, columns) {
		for len(row) > 0 {
			n := 1
			for n < len(row) && row[n].style == row[0].style {
				n++
			}
			fmt.Fprintf(&b, `<span style="%s">`, row[0].style.css(p))
			for _, c := range row[:n] {
				if len(c.text) == 1 {
					b.WriteString(html.EscapeString(c.text))
				} else {
					fmt.Fprintf(&b, `<i style="display:inline-block;font-style:inherit;vertical-align:top;height:17px;overflow:hidden;width:%dch">%s</i>`, c.width, html.EscapeString(c.text))
				}
			}
			b.WriteString("</span>")
			row = row[n:]
		}
		b.WriteString("\n")
	}
	b.WriteString("</pre>")
	return b.String()
}

// plain returns the text without colours.
func plain(text string) string {
	var b strings.Builder
	for _, row := range cells(strings.TrimRight(text, "\r\n"), palettes[0], 0) {
		for _, c := range row {
			b.WriteString(c.text)
		}
		b.WriteString("\n")
	}
	return b.String()
}
