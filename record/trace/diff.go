package trace

import "strings"

// maxDiff bounds the table of the comparison. Beyond it the changed middle of a
// text is shown as replaced whole.
const maxDiff = 1 << 20 // cells

// diffLines compares two texts line by line and returns the lines of a unified
// diff, without headers: each begins with a blank, -, + or, between parts that
// are not neighbours, @.
func diffLines(old, new string) []string {
	const context = 3
	a, b := splitLines(old), splitLines(new)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var lines []string
	for _, line := range a[max(0, head-context):head] {
		lines = append(lines, " "+line)
	}
	middle := compare(a[head:len(a)-tail], b[head:len(b)-tail])
	lines = append(lines, dropUnchanged(middle, context)...)
	for _, line := range a[len(a)-tail : min(len(a), len(a)-tail+context)] {
		lines = append(lines, " "+line)
	}
	return lines
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// compare returns the lines of both, marked, by their longest common
// subsequence.
func compare(a, b []string) []string {
	lines := make([]string, 0, len(a)+len(b))
	i, j := 0, 0
	if len(a)*len(b) <= maxDiff {
		// common[i][j] is the length of what a[i:] and b[j:] have in common.
		common := make([][]int32, len(a)+1)
		for i := range common {
			common[i] = make([]int32, len(b)+1)
		}
		for i := len(a) - 1; i >= 0; i-- {
			for j := len(b) - 1; j >= 0; j-- {
				if a[i] == b[j] {
					common[i][j] = common[i+1][j+1] + 1
				} else {
					common[i][j] = max(common[i+1][j], common[i][j+1])
				}
			}
		}
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				lines = append(lines, " "+a[i])
				i++
				j++
			case common[i+1][j] >= common[i][j+1]:
				lines = append(lines, "-"+a[i])
				i++
			default:
				lines = append(lines, "+"+b[j])
				j++
			}
		}
	}
	for _, line := range a[i:] {
		lines = append(lines, "-"+line)
	}
	for _, line := range b[j:] {
		lines = append(lines, "+"+line)
	}
	return lines
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
