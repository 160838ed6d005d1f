package help

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// Width is the maximum width of a text; narrower terminals reduce it.
const Width = 80

// Text returns the topic formatted for a terminal of the given width, with headings and
// code in bold if bold is set. It never wraps code.
func (t Topic) Text(width int, bold bool) string {
	w := textWriter{width: width, bold: bold}
	var last blockKind
	for i, b := range parse(t.Markdown) {
		if i > 0 && (b.kind != item || last != item) {
			w.WriteByte('\n')
		}
		w.block(b)
		last = b.kind
	}
	return w.String()
}

type textWriter struct {
	strings.Builder
	width int
	bold  bool
}

func (w *textWriter) block(b block) {
	switch b.kind {
	case heading:
		text := []span{{strong, plainText(b.spans), ""}}
		if b.level == 1 {
			text[0].text = strings.ToUpper(text[0].text)
		}
		w.lines(w.wrap(text, w.width), "", "")
	case paragraph:
		w.lines(w.wrap(b.spans, w.width), "", "")
	case item:
		indent := strings.Repeat(" ", len(b.mark)+1)
		w.lines(w.wrap(b.spans, w.width-len(indent)), b.mark+" ", indent)
	case code:
		for _, line := range b.lines {
			w.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		}
	case table:
		w.table(b.rows)
	}
}

// lines writes indented lines; first is the indentation of the first one.
func (w *textWriter) lines(lines []string, first, indent string) {
	for i, line := range lines {
		if i == 0 {
			line = first + line
		} else {
			line = indent + line
		}
		w.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// A word is text that is never split across lines. It may have several styles.
type word struct {
	text  string // with escape sequences
	width int
}

// words splits spans at blanks. It keeps short code in one piece.
func (w *textWriter) words(list []span) []word {
	const unbroken = 30
	var words []word
	glue := false // the next piece continues the last word
	for _, s := range list {
		text := s.text
		switch s.style {
		case link:
			text = s.linkText()
		case emphasis:
			text = `"` + text + `"`
		}
		pieces := strings.Split(text, " ")
		if s.style == literal && termtext.Width(text) <= unbroken {
			pieces = []string{text}
		}
		for i, p := range pieces {
			styled := p
			if w.bold && (s.style == literal || s.style == strong) && p != "" {
				styled = "\x1b[1m" + p + "\x1b[0m"
			}
			if i == 0 && glue && len(words) > 0 {
				last := &words[len(words)-1]
				last.text, last.width = last.text+styled, last.width+termtext.Width(p)
			} else {
				words = append(words, word{styled, termtext.Width(p)})
			}
		}
		glue = true
	}
	return slices.DeleteFunc(words, func(w word) bool { return w.width == 0 })
}

// wrap breaks spans into lines of at most width columns.
func (w *textWriter) wrap(list []span, width int) []string {
	var lines []string
	var line strings.Builder
	used := 0
	for _, word := range w.words(list) {
		if used > 0 && used+1+word.width > width {
			lines = append(lines, line.String())
			line.Reset()
			used = 0
		}
		if used > 0 {
			line.WriteByte(' ')
			used++
		}
		line.WriteString(word.text)
		used += word.width
	}
	return append(lines, line.String())
}

// gap separates the columns of a table.
const gap = "  "

// table writes rows, wrapping their cells so that lines fit.
func (w *textWriter) table(rows [][]string) {
	if strings.Join(rows[0], "") == "" {
		rows = rows[1:]
	}
	widths := w.columns(rows)
	for _, row := range rows {
		var cells [][]string
		height := 0
		for i, c := range row {
			cells = append(cells, w.wrap(spans(c), widths[i]))
			height = max(height, len(cells[i]))
		}
		for y := range height {
			var line strings.Builder
			pad := 0
			for i, c := range cells {
				text := ""
				if y < len(c) {
					text = c[y]
				}
				if i > 0 {
					line.WriteString(strings.Repeat(" ", pad) + gap)
				}
				line.WriteString(text)
				pad = widths[i] - visible(text)
			}
			w.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
	}
}

// columns returns the column widths. If the cells do not fit, it shrinks the widest
// columns, but not below their longest word.
func (w *textWriter) columns(rows [][]string) []int {
	widths, least := make([]int, len(rows[0])), make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], visible(w.wrap(spans(c), 1<<20)[0]))
			for _, word := range w.words(spans(c)) {
				least[i] = max(least[i], word.width)
			}
		}
	}
	over := len(gap)*(len(widths)-1) - w.width
	for _, n := range widths {
		over += n
	}
	for ; over > 0; over-- {
		widest := -1
		for i, n := range widths {
			if n > least[i] && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// visible returns the width of a text without our escape sequences.
func visible(s string) int {
	return termtext.Width(strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(s))
}

// plainText returns spans without their styles.
func plainText(list []span) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(s.text)
	}
	return b.String()
}
