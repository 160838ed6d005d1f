package summary

import (
	"regexp"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

var (
	lineSigns  = regexp.MustCompile(`^\s*(?:>\s*)*(?:#{1,6}\s+|(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?`) // of quotes, headings and lists
	linkText   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)\s]*(?: "[^"]*")?\)`)
	strongText = regexp.MustCompile(`(\*\*\*?|__)(\S(?:.*?\S)?)(\*\*\*?|__)`)
	emphasis   = regexp.MustCompile(`(^|[\s(])\*([^\s*](?:[^*]*[^\s*])?)\*`)
)

// plainText returns a message without the signs of Markdown. Lines that only draw something,
// the rules of tables and the fences of code, are left out.
func plainText(text string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(text) {
		drawn := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(drawn, "```"), strings.HasPrefix(drawn, "~~~"):
			code = !code
			continue
		case code:
		case len(drawn) > 2 && strings.Trim(drawn, "|:-=*_ ") == "":
			continue
		default:
			line = plainLine(drawn) + "\n"
		}
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
}

// plainLine returns a line without the signs of Markdown.
func plainLine(line string) string {
	line = line[len(lineSigns.FindString(line)):]
	if inner, ok := strings.CutPrefix(line, "|"); ok && strings.HasSuffix(inner, "|") {
		cells := strings.Split(strings.TrimSuffix(inner, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		line = strings.Join(cells, " ")
	}
	parts := strings.Split(line, "`")
	for i := range parts {
		if code := i%2 == 1; code && i < len(parts)-1 {
			continue
		} else if code { // no sign ends it
			parts[i] = "`" + parts[i]
		}
		parts[i] = linkText.ReplaceAllString(parts[i], "$1")
		parts[i] = strongText.ReplaceAllString(parts[i], "$2")
		parts[i] = emphasis.ReplaceAllString(parts[i], "$1$2")
	}
	return strings.Join(parts, "")
}

// gistOf returns an answer without a first line that only introduces the next ones.
func gistOf(answer string) string {
	first, rest, _ := strings.Cut(answer, "\n")
	if rest = strings.TrimSpace(rest); rest != "" && strings.HasSuffix(strings.TrimSpace(first), ":") {
		return rest
	}
	return answer
}

// OneLine returns the beginning of what was said in one line.
func OneLine(text string) string {
	var b strings.Builder
	for _, line := range termtext.FirstLines(text, maxJoined, 0) {
		switch {
		case b.Len() == 0:
		case strings.ContainsAny(b.String()[b.Len()-1:], ".!?:;,"):
			b.WriteByte(' ')
		default:
			b.WriteString(" · ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// maxJoined limits the lines that become one.
const maxJoined = 8
