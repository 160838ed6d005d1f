package framepane

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// hexLine returns a line of 16 bytes, as numbers and as text.
func hexLine(raw []byte, from int) []termtext.Span {
	part := raw[from:min(from+16, len(raw))]
	var hex, text strings.Builder
	for i := range 16 {
		if i == 8 {
			hex.WriteByte(' ')
		}
		if i >= len(part) {
			hex.WriteString("   ")
			continue
		}
		fmt.Fprintf(&hex, "%02x ", part[i])
		if c := part[i]; ' ' <= c && c <= '~' {
			text.WriteByte(c)
		} else {
			text.WriteByte('.')
		}
	}
	return []termtext.Span{termtext.Dim.Span(fmt.Sprintf("%08x  ", from)), termtext.Plain.Span(hex.String() + " "), termtext.Plain.Span(text.String())}
}

// hexRows returns the bytes of each line as rows to search.
func (p *Pane) hexRows() []page.TextRow {
	rows := make([]page.TextRow, p.count())
	for i := range rows {
		rows[i] = page.TextRow{Text: string(p.Frame.Raw[i*16 : min(i*16+16, len(p.Frame.Raw))]), Join: page.Within}
	}
	return rows
}

// The columns of hexLine where the numbers and the text begin.
const (
	numbersColumn = 10
	textColumn    = numbersColumn + 16*3 + 1 + 1
)

// hexMarks converts marks of bytes to marks of their line: on the numbers, and on the text
// beside them.
func hexMarks(bytes []page.Mark) []page.Mark {
	var numbers, text []page.Mark
	for _, m := range bytes {
		at := func(i int) int { return numbersColumn + 3*i + i/8 }
		numbers = append(numbers, page.Mark{From: at(m.From), To: at(m.To-1) + 2, Current: m.Current})
		text = append(text, page.Mark{From: textColumn + m.From, To: textColumn + m.To, Current: m.Current})
	}
	return append(numbers, text...)
}
