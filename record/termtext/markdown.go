package termtext

import (
	"regexp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// The patterns are compiled on first use: the proxy needs none.
var (
	lineSigns  = lazyregexp.New(`^\s*(?:>\s*)*(?:#{1,6}\s+|(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?`) // of quotes, headings and lists
	linkText   = lazyregexp.New(`!?\[([^\]]*)\]\([^)\s]*(?: "[^"]*")?\)`)
	strongText = lazyregexp.New(`(^|[\s("'` + wide + `])\*\*\*?(\S(?:.*?\S)??)\*\*\*?` + afterMark)                            // not in a/**/b
	strongCode = lazyregexp.New(`(^|[\s("'` + wide + `])\*\*((?:[^\s*` + "`][^*`]*)?(?:`[^`]*`[^*`]*)+)" + `\*\*` + afterMark) // with code in it
	emphasis   = lazyregexp.New(`(^|[\s(` + wide + `])\*([^\s*](?:[^*]*[^\s*])?)\*` + afterMark)                               // not in *.go,*.md
)

// afterMark matches what may follow a sign that ends a style, and wide what is written without
// blanks around it.
const (
	afterMark = `($|[\s),:;!?"'` + wide + `]|\.(?:\s|$))`
	wide      = `\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}\x{3000}-\x{303f}\x{ff00}-\x{ff65}\x{2014}`
)

// Unmarked returns a text without Markdown markup. It drops lines that only draw something,
// such as code fences, and puts the headings of a table before its cells.
func Unmarked(text string) string {
	var b strings.Builder
	code, rows := false, table{}
	for line := range strings.Lines(text) {
		drawn := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(drawn, "```"), strings.HasPrefix(drawn, "~~~"):
			b.WriteString(rows.end())
			code = !code
			continue
		case code:
		case strings.HasPrefix(drawn, "|"):
			b.WriteString(rows.row(drawn))
			continue
		case len(drawn) > 2 && strings.Trim(drawn, ":-=*_ ") == "":
			continue
		default:
			line = rows.end() + unmarkedLine(drawn) + "\n"
		}
		b.WriteString(line)
	}
	b.WriteString(rows.end())
	return strings.TrimSpace(b.String())
}

// A table is the table being read. Its zero value is a table that has not begun.
type table struct {
	head []string // headings of the columns; nil: no table has begun
	body bool     // the rule below the head has been read
}

// row returns the text for a line that begins with a bar.
func (t *table) row(line string) string {
	inner, whole := strings.CutSuffix(strings.TrimPrefix(line, "|"), "|")
	if strings.Trim(inner, "|:- ") == "" {
		t.body = t.body || t.head != nil
		return ""
	}
	if t.body && !whole { // the text was cut
		return "…\n"
	}
	cells := strings.Split(inner, "|")
	for i := range cells {
		cells[i] = unmarkedLine(strings.TrimSpace(cells[i]))
	}
	if !t.body {
		above := t.end()
		t.head = cells
		return above
	}
	return tableRow(t.head, cells) + "\n"
}

// end ends the table. If no rule followed the line that seemed to be a head, end returns that
// line.
func (t *table) end() string {
	head := t.head
	if t.body {
		head = nil
	}
	if *t = (table{}); head == nil {
		return ""
	}
	return strings.Join(slices.DeleteFunc(head, func(cell string) bool { return cell == "" }), " ") + "\n"
}

// tableRow returns the text for a row of a table: its subject, then the other cells, each
// after its column's heading if there are several.
func tableRow(head, cells []string) string {
	if len(cells) > 2 && len(head) > 0 && rowNumber[strings.ToLower(head[0])] {
		head, cells = head[1:], cells[1:]
	}
	var list []string
	for i, cell := range cells[1:] {
		switch {
		case cell == "":
		case len(cells) > 2 && i+1 < len(head) && head[i+1] != "":
			list = append(list, head[i+1]+" "+cell)
		default:
			list = append(list, cell)
		}
	}
	rest := strings.Join(list, ", ")
	if cells[0] == "" || rest == "" {
		return cells[0] + rest
	}
	return cells[0] + ": " + rest
}

// rowNumber has the headings of columns that only number the rows.
var rowNumber = map[string]bool{"#": true, "no": true, "no.": true, "nr": true, "nr.": true}

// unmarkedLine returns a line without Markdown markup.
func unmarkedLine(line string) string {
	if strings.IndexAny(line, "#>-*+0123456789") == 0 {
		line = line[len(lineSigns().FindString(line)):]
	}
	if !strings.ContainsAny(line, "`*[") {
		return line
	}
	parts := strings.Split(strongCode().ReplaceAllString(line, "$1$2$3"), "`")
	for i := range parts {
		if code := i%2 == 1; code && i < len(parts)-1 {
			continue
		} else if code { // no sign closes it
			parts[i] = "`" + parts[i]
		}
		parts[i] = linkText().ReplaceAllString(parts[i], "$1")
		// Each twice: of two that share a blank, one pass finds only the first.
		for _, style := range [...]*regexp.Regexp{strongText(), strongText(), emphasis(), emphasis()} {
			parts[i] = style.ReplaceAllString(parts[i], "$1$2$3")
		}
	}
	return strings.Join(parts, "")
}
