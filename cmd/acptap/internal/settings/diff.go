package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/linediff"
)

// diffContext is how many lines without change stand around one.
const diffContext = 3

// Diff returns what the change does to its file, as a unified diff.
func (ch *Change) Diff() string {
	if ch.IsEmpty() {
		return ""
	}
	var before, after []string
	from, to := ch.file.Path, ch.file.Path
	if before = splitLines(string(ch.file.read)); !ch.file.exists {
		from = "/dev/null"
	}
	if ch.doc == nil {
		to = "/dev/null"
	} else {
		after = splitLines(string(ch.doc.bytes()))
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%s", from, to, unified(before, after))
}

// splitLines returns lines with their ends.
func splitLines(s string) []string { return slices.Collect(strings.Lines(s)) }

// unified returns the hunks of a diff.
func unified(a, b []string) string {
	lines := linediff.Lines(a, b)
	keep := make([]bool, len(lines))
	for i, line := range lines {
		if line[0] != ' ' {
			for j := max(0, i-diffContext); j <= min(len(lines)-1, i+diffContext); j++ {
				keep[j] = true
			}
		}
	}
	var out strings.Builder
	old, new := 1, 1
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && keep[end] {
			end++
		}
		if end > i {
			hunk := lines[i:end]
			removed, added := count(hunk, '-'), count(hunk, '+')
			fmt.Fprintf(&out, "@@ -%s +%s @@\n", lineRange(old, removed), lineRange(new, added))
			for _, line := range hunk {
				out.WriteString(line)
				if !strings.HasSuffix(line, "\n") {
					out.WriteString("\n\\ No newline at end of file\n")
				}
			}
			old, new, i = old+removed, new+added, end
			continue
		}
		old, new, i = old+1, new+1, i+1
	}
	return out.String()
}

// count returns how many lines of a hunk are in one of the files.
func count(hunk []string, sign byte) (n int) {
	for _, line := range hunk {
		if line[0] == sign || line[0] == ' ' {
			n++
		}
	}
	return n
}

// lineRange returns the lines of a hunk; of none, the line before.
func lineRange(first, n int) string {
	if n == 0 {
		first--
	}
	if n == 1 {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, n)
}
