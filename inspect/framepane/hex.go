package framepane

import (
	"fmt"
	"strings"

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
	return []termtext.Span{termtext.Dim.Span(fmt.Sprintf("%08x  ", from)), termtext.Plain.Span(hex.String() + " "), termtext.Green.Span(text.String())}
}
