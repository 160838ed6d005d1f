package framepane

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// hexLine returns a line of 16 bytes, both as numbers and as text.
func hexLine(raw []byte, from int) []termtext.Span {
	line := hex.Dump(raw[from:min(from+16, len(raw))]) // 00000000  61 62 …  |ab…|
	numbers, text := line[numbersColumn:textColumn], strings.TrimSuffix(line[textColumn+1:], "|\n")
	return []termtext.Span{termtext.Dim.Span(fmt.Sprintf("%08x  ", from)), termtext.Plain.Span(numbers), termtext.Plain.Span(text)}
}

// Columns of hexLine where the numbers and the text begin.
const (
	numbersColumn = 10
	textColumn    = numbersColumn + 16*3 + 1 + 1
)

// hexMarks converts marks on bytes to marks on their line: on the numbers, and on the
// text next to them.
func hexMarks(bytes []page.Mark) []page.Mark {
	var numbers, text []page.Mark
	for _, m := range bytes {
		at := func(i int) int { return numbersColumn + 3*i + i/8 }
		numbers = append(numbers, page.Mark{From: at(m.From), To: at(m.To-1) + 2, Current: m.Current})
		text = append(text, page.Mark{From: textColumn + m.From, To: textColumn + m.To, Current: m.Current})
	}
	return append(numbers, text...)
}
