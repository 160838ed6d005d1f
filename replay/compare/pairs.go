package compare

import (
	"slices"
	"strings"
	"unicode"

	"github.com/acptap/acptap/record/linediff"
)

// maxPairing limits the pairs of steps that are weighed against each other. Each weighing
// is one short comparison.
const maxPairing = 1 << 16

// pairs returns which steps of two lists are counterparts, in order. No step of one list
// equals a step of the other. Counterparts have the same kind and depth, and the most
// words in common. In lists too long to weigh each pair, words do not count.
func pairs(a, b []Step) []linediff.Match {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	if len(a)*len(b) > maxPairing {
		var list []linediff.Match
		for _, m := range linediff.Common(labels(a), labels(b)) {
			for i := range m.N {
				list = append(list, linediff.Match{A: m.A + i, B: m.B + i, N: 1})
			}
		}
		return list
	}
	return heaviest(len(a), len(b), likeness(a, b))
}

// heaviest returns the pairs on a heaviest path through a table of weights: each row and
// column is in at most one pair, and pairs do not cross.
func heaviest(rows, columns int, weight func(i, j int) float32) []linediff.Match {
	best := make([]float32, (rows+1)*(columns+1)) // best[i, j] is the weight for the rows from i and the columns from j on
	at := func(i, j int) *float32 { return &best[i*(columns+1)+j] }
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			if w := weight(i, j); w > 0 {
				*at(i, j) = max(*at(i, j), w+*at(i+1, j+1))
			}
		}
	}
	var list []linediff.Match
	for i, j := 0, 0; i < rows && j < columns; {
		switch w := weight(i, j); {
		case w > 0 && *at(i, j) == w+*at(i+1, j+1):
			list = append(list, linediff.Match{A: i, B: j, N: 1})
			i, j = i+1, j+1
		case *at(i, j) == *at(i+1, j):
			i++
		default:
			j++
		}
	}
	return list
}

// likeness returns a function that scores how similar two steps are; 0: not at all.
func likeness(a, b []Step) func(i, j int) float32 {
	kindA, kindB := labels(a), labels(b)
	wordsA, wordsB := words(a), words(b)
	return func(i, j int) float32 {
		if kindA[i] != kindB[j] {
			return 0
		}
		const weightOfWords = 4 // relative to being a pair at all
		return 1 + weightOfWords*share(wordsA[i], wordsB[j])
	}
}

// labels returns each step's kind and depth: the path of a value, the method of a call,
// or the first word.
func labels(steps []Step) []string {
	list := make([]string, len(steps))
	for i, s := range steps {
		list[i] = label(s.Text)
	}
	return list
}

func label(text string) string {
	rest := strings.TrimLeft(text, " ")
	depth := text[:len(text)-len(rest)]
	first, more, _ := strings.Cut(rest, " ")
	switch first {
	case "with", "gave", "c2a", "a2c", "stderr": // a path or the kind of a frame follows
		second, _, _ := strings.Cut(more, " ")
		first += " " + second
	case "turn": // N, or: N and how it ended
		if strings.Contains(more, " ") {
			first = "end of turn"
		}
	}
	return depth + strings.TrimRight(first, ":,")
}

// maxWords limits the words compared per step.
const maxWords = 64

// words returns the words of each step, sorted.
func words(steps []Step) [][]string {
	list := make([][]string, len(steps))
	for i, s := range steps {
		for word := range strings.FieldsFuncSeq(s.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if list[i] = append(list[i], word); len(list[i]) == maxWords {
				break
			}
		}
		slices.Sort(list[i])
	}
	return list
}

// share returns the proportion of words that two sorted lists have in common, from 0 to
// 1.
func share(a, b []string) float32 {
	all, both := len(a)+len(b), 0
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0], b[0]) {
		case -1:
			a = a[1:]
		case 1:
			b = b[1:]
		default:
			a, b, both = a[1:], b[1:], both+2
		}
	}
	return float32(both) / float32(max(all, 1))
}
