package trace

import (
	"strings"

	"github.com/acptap/acptap/record/linediff"
)

// DiffLines compares two texts line by line and returns the lines of a unified diff,
// without headers: each begins with a blank, - or +, or with @ between non-adjacent
// parts.
func DiffLines(old, new string) []string {
	const context = 3
	lines := linediff.Lines(splitLines(old), splitLines(new))
	var kept []string
	next := 0 // the first line that is neither kept nor left out
	for i, line := range lines {
		if line[0] == ' ' {
			continue
		}
		if from := i - context; from > next {
			if next > 0 {
				kept = append(kept, "@@")
			}
			next = from
		}
		to := min(i+1+context, len(lines))
		kept = append(kept, lines[next:to]...)
		next = to
	}
	if kept == nil {
		return lines[max(0, len(lines)-context):]
	}
	return kept
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
