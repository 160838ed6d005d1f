package summary

import (
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

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
