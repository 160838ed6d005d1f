package inspect

import (
	"slices"
	"strings"
)

// maxEdits bounds the work on two texts that have little in common. Beyond it
// the changed middle is shown as replaced whole.
const maxEdits = 1 << 10

// diffLines compares two texts line by line, and returns all lines of both, each
// behind a blank, - or +.
func diffLines(before, after string) []string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	lines := marked(" ", a[:head])
	lines = append(lines, edits(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return append(lines, marked(" ", a[len(a)-tail:])...)
}

func marked(mark string, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = mark + line
	}
	return out
}

// edits finds the shortest way from a to b (Myers, An O(ND) Difference
// Algorithm, 1986).
func edits(a, b []string) []string {
	var rounds [][]int // of each number of edits: how far each diagonal gets in a
	limit := min(len(a)+len(b), maxEdits)
	far := make([]int, 2*limit+3) // by diagonal, from -limit-1 on
	zero := limit + 1
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := far[zero+k-1] + 1
			if k == -d || k != d && far[zero+k-1] < far[zero+k+1] {
				x = far[zero+k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			far[zero+k] = x
			if x >= len(a) && x-k >= len(b) {
				return path(a, b, rounds)
			}
		}
		rounds = append(rounds, slices.Clone(far[zero-d:zero+d+1]))
	}
	return append(marked("-", a), marked("+", b)...)
}

// path goes back the way that edits has found.
func path(a, b []string, rounds [][]int) []string {
	var lines []string
	x, y := len(a), len(b)
	for d := len(rounds); d > 0; d-- {
		far := func(k int) int { return rounds[d-1][k+d-1] }
		k := x - y
		down := k == -d || k != d && far(k-1) < far(k+1)
		from := k - 1
		if down {
			from = k + 1
		}
		toX := far(from)
		for x > toX && y > toX-from {
			x, y = x-1, y-1
			lines = append(lines, " "+a[x])
		}
		if down {
			y--
			lines = append(lines, "+"+b[y])
		} else {
			x--
			lines = append(lines, "-"+a[x])
		}
	}
	for x > 0 {
		x--
		lines = append(lines, " "+a[x])
	}
	slices.Reverse(lines)
	return lines
}
