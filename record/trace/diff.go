package trace

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/record/linediff"
)

// DiffLines compares two texts line by line and returns the lines of a unified diff,
// without headers: each begins with a blank, - or +, or with @ between parts that are not
// adjacent.
func DiffLines(old, new string) []string {
	const context = 3
	lines := linediff.Lines(splitLines(old), splitLines(new))
	changed := func(line string) bool { return line[0] != ' ' }
	first := slices.IndexFunc(lines, changed)
	if first < 0 {
		return lines[max(0, len(lines)-context):]
	}
	last := len(lines) - 1
	for !changed(lines[last]) {
		last--
	}
	return dropUnchanged(lines[max(0, first-context):min(len(lines), last+1+context)], context)
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// dropUnchanged leaves out unchanged lines that are not within context lines of
// a change.
func dropUnchanged(lines []string, context int) []string {
	var kept []string
	for i := 0; i < len(lines); {
		n := i
		for n < len(lines) && lines[n][0] == ' ' {
			n++
		}
		if n-i > 2*context {
			kept = append(kept, lines[i:i+context]...)
			kept = append(kept, "@@")
			i = n - context
		}
		n = max(n, i)
		kept = append(kept, lines[i:n]...)
		if n < len(lines) {
			kept = append(kept, lines[n])
			n++
		}
		i = n
	}
	return kept
}
