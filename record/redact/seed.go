package redact

import (
	"bytes"
	_ "embed"
	"strings"
	"sync"
)

// seed_words.txt has the English words of BIP 39, from which wallets make the phrases that
// stand for their keys.
//
//go:embed seed_words.txt
var seedWordsText string

// seedWords are these words, packed. The set is made when first asked for.
var seedWords = sync.OnceValue(func() map[uint64]bool {
	words := make(map[uint64]bool)
	for word := range strings.FieldsSeq(seedWordsText) {
		words[packed([]byte(word))] = true
	}
	return words
})

// packed returns a number for a word of at most longestWord letters, of either case.
func packed(word []byte) (n uint64) {
	for _, c := range word {
		n = n<<8 | uint64(lower(c))
	}
	return n
}

const (
	seedLength  = 12 // words of the shortest phrase
	longestWord = 8  // of seedWords
	seedBytes   = 60 // hardly any phrase has fewer: words average 5 letters
	seedGap     = 28 // between two words in a list or in a box
)

// seeds looks for seed phrases: twelve or more words of the list in a row. In English
// that happens by chance only in lists of nouns, since the list lacks the short words.
func (s *search) seeds() {
	// Looking at every sixtieth byte is enough to find every phrase.
	for i := seedBytes - 1; i < len(s.text); i += seedBytes {
		middle := i
		for middle > 0 && i-middle <= longestWord && isLetter(s.text[middle-1]) {
			middle--
		}
		to, after := seedRun(s.text, middle, 1)
		if after == 0 {
			continue
		}
		from, before := seedRun(s.text, middle, -1)
		if before+after >= seedLength && isVaried(s.text[from:to]) {
			s.add(from, to)
		}
		i = max(i, to)
	}
}

// isVaried distinguishes a phrase from a few words repeated again and again.
func isVaried(phrase []byte) bool {
	words := make(map[string]bool)
	for word := range bytes.FieldsFuncSeq(phrase, func(c rune) bool { return c >= 0x80 || !isLetter(byte(c)) }) {
		words[string(word)] = true
	}
	return len(words) >= seedLength/2
}

// seedRun counts the words of the list from t[i] on, or before it if step is -1, and returns
// where they end.
func seedRun(t []byte, i, step int) (end, words int) {
	skip := func(from, most int, is func(byte) bool) int {
		i := from
		for (i-from)*step < most && i+min(step, 0) >= 0 && i+min(step, 0) < len(t) && is(t[i+min(step, 0)]) {
			i += step
		}
		return i
	}
	for end = i; ; words++ {
		from := skip(end, seedGap, isSeedGap)
		to := skip(from, longestWord+1, isLetter)
		word := t[min(from, to):max(from, to)]
		if len(word) < 3 || len(word) > longestWord || !seedWords()[packed(word)] {
			return end, words
		}
		end = to
	}
}

// isSeedGap reports whether a byte may be between the words of a phrase, in a list or a box too.
func isSeedGap(c byte) bool {
	return c >= 0x80 || isDigit(c) || strings.IndexByte(" \t\r\n,.;:)\"'`\\|*-+#", c) >= 0
}
