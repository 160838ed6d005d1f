package termtext

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestWord limits the bytes of a word that Distance compares.
const longestWord = 64

// Distance returns the number of letters to change to turn one word into another
// (Levenshtein).
func Distance(a, b string) int {
	a, b = a[:min(len(a), longestWord)], b[:min(len(b), longestWord)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Near returns up to three words that word may be meant to be, nearest first: words that
// begin with it, and words that differ in at most a third of their letters.
func Near(word string, words []string) []string {
	word = strings.ToLower(word)
	type candidate struct {
		word string
		far  int
	}
	var near []candidate
	seen := map[string]bool{}
	for _, w := range words {
		if seen[w] || w == "" || word == "" {
			continue
		}
		seen[w] = true
		lower := strings.ToLower(w)
		far := Distance(word, lower)
		if strings.HasPrefix(lower, word) {
			far = 0
		}
		if far <= max(1, len(word)/3) {
			near = append(near, candidate{w, far})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	var found []string
	for _, c := range near[:min(len(near), 3)] {
		found = append(found, c.word)
	}
	return found
}

// Folds reports whether two characters are equal regardless of case.
func Folds(r, c rune) bool {
	if r == c {
		return true
	}
	if r < utf8.RuneSelf && c < utf8.RuneSelf {
		return r|0x20 == c|0x20 && 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f == c {
			return true
		}
	}
	return false
}
