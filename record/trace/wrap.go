package trace

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// clean makes text from the wire safe to show: no control character but the
// line feed is left, and none that changes the direction of writing. Colours of
// terminal output are dropped, other controls become the pictures that Unicode
// has for them. Carriage returns end a line, tabs become blanks.
func clean(text string) string {
	if strings.IndexFunc(text, unfit) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == 0x1b && colour(text[i:]) > 0:
			n = colour(text[i:])
		case r == '\r':
			if !strings.HasPrefix(text[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case r == '\u2028', r == '\u2029', r == '\u0085':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteString("    ")
		case r < ' ' && r != '\n':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r != '\n' && unfit(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r) // of a byte that is no UTF-8: U+FFFD
		}
		i += n
	}
	return b.String()
}

func unfit(r rune) bool {
	return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) ||
		r == '\u2028' || r == '\u2029'
}

// colour returns the length of the ECMA-48 sequence SGR that text begins with,
// 0 if it begins with something else.
func colour(text string) int {
	params, ok := strings.CutPrefix(text, "\x1b[")
	if !ok {
		return 0
	}
	end := strings.TrimLeft(params, "0123456789;:")
	if !strings.HasPrefix(end, "m") {
		return 0
	}
	return len(text) - len(end) + 1
}

// oneLine makes clean text of one line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(clean(text)), " ")
}

// wrap divides clean text into lines of at most width columns, between words
// where it can. A width of 0 or less keeps lines whole.
func wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if width <= 0 || uniseg.StringWidth(line) <= width {
			lines = append(lines, strings.TrimRight(line, " "))
			continue
		}
		lines = append(lines, wrapLine(line, width)...)
	}
	return lines
}

func wrapLine(text string, width int) []string {
	var lines []string
	var line strings.Builder
	used := 0
	end := func() {
		lines = append(lines, strings.TrimRight(line.String(), " "))
		line.Reset()
		used = 0
	}
	state := -1
	for len(text) > 0 {
		var word string
		word, text, _, state = uniseg.FirstLineSegmentInString(text, state)
		columns := uniseg.StringWidth(strings.TrimRight(word, " "))
		if used > 0 && used+columns > width {
			end()
		}
		for { // one word may be much wider than a line
			n := fit(word, width)
			if n >= len(strings.TrimRight(word, " ")) {
				break
			}
			line.WriteString(word[:n])
			end()
			word = word[n:]
		}
		line.WriteString(word)
		used += uniseg.StringWidth(word)
	}
	if used > 0 {
		end()
	}
	return lines
}

// fit returns how many bytes of text fill width columns; at least one
// character's.
func fit(text string, width int) int {
	n, used, state := 0, 0, -1
	for rest := text; len(rest) > 0; {
		var cluster string
		var columns int
		cluster, rest, columns, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if n > 0 && used+columns > width {
			break
		}
		n += len(cluster)
		used += columns
	}
	return n
}

// shorten cuts one line to width columns.
func shorten(line string, width int) string {
	if width <= 0 || uniseg.StringWidth(line) <= width {
		return line
	}
	if width == 1 {
		return "…"
	}
	return line[:fit(line, width-1)] + "…"
}
