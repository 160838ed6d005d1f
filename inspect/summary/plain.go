package summary

import (
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// OneLine returns what was said in one line, as far as it is told.
func OneLine(text string) string {
	var b strings.Builder
	for _, line := range termtext.FirstLines(text, maxJoined, 0) {
		switch {
		case b.Len() == 0:
		case strings.HasSuffix(strings.TrimRight(b.String(), ".!?:;,。！？：；，"), b.String()):
			b.WriteString(" · ")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimPrefix(line, "• "))
	}
	return b.String()
}

// maxJoined limits the lines that become one.
const maxJoined = 40
