package termtext

import (
	"regexp"
	"strings"
	"sync"
)

// The patterns are compiled when one is first needed: the proxy needs none.
var (
	lineSigns  = pattern(`^\s*(?:>\s*)*(?:#{1,6}\s+|(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?`) // of quotes, headings and lists
	linkText   = pattern(`!?\[([^\]]*)\]\([^)\s]*(?: "[^"]*")?\)`)
	strongText = pattern(`(^|[\s("'])\*\*\*?(\S(?:.*?\S)??)\*\*\*?` + afterMark) // not in a/**/b
	emphasis   = pattern(`(^|[\s(])\*([^\s*](?:[^*]*[^\s*])?)\*` + afterMark)    // not in *.go,*.md
)

// afterMark matches what may follow a sign that ends a style.
const afterMark = `($|[\s),:;!?"']|\.(?:\s|$))`

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Unmarked returns a text without the signs of Markdown. Lines that only draw something,
// the rules of tables and the fences of code, are left out.
func Unmarked(text string) string {
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
			line = unmarkedLine(drawn) + "\n"
		}
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
}

// unmarkedLine returns a line without the signs of Markdown.
func unmarkedLine(line string) string {
	if strings.IndexAny(line, "#>-*+0123456789") == 0 {
		line = line[len(lineSigns().FindString(line)):]
	}
	if inner, ok := strings.CutPrefix(line, "|"); ok && strings.HasSuffix(inner, "|") {
		cells := strings.Split(strings.TrimSuffix(inner, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		line = strings.Join(cells, " ")
	}
	if !strings.ContainsAny(line, "`*[") {
		return line
	}
	parts := strings.Split(line, "`")
	for i := range parts {
		if code := i%2 == 1; code && i < len(parts)-1 {
			continue
		} else if code { // no sign ends it
			parts[i] = "`" + parts[i]
		}
		parts[i] = linkText().ReplaceAllString(parts[i], "$1")
		for _, style := range [...]*regexp.Regexp{strongText(), strongText(), emphasis(), emphasis()} { // of two that share a blank, one is found at a time
			parts[i] = style.ReplaceAllString(parts[i], "$1$2$3")
		}
	}
	return strings.Join(parts, "")
}
