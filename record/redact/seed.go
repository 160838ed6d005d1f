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
	seedLength  = 12                            // words of the shortest phrase
	longestWord = 8                             // of seedWords
	seedBytes   = 60                            // hardly any phrase has fewer: words average 5 letters
	seedGap     = len("\r\n") + len(`  "12.  `) // between two words of a list
)

// seeds looks for seed phrases: twelve or more words of the list in a row. In English
// that happens by chance only in lists of nouns, since the list lacks the short words.
func (s *search) seeds() {
	// Looking at each sixtieth byte is enough to meet every phrase.
	for i := seedBytes - 1; i < len(s.text); i += seedBytes {
		from, middle, before := seedWordsBefore(s.text, i)
		to, after := seedWordsAfter(s.text, middle)
		if before+after >= seedLength && isVaried(s.text[from:to]) {
			s.add(from, to)
		}
		i = max(i, to)
	}
}

// isVaried distinguishes a phrase from a few words repeated again and again.
func isVaried(phrase []byte) bool {
	words := make(map[string]bool)
	for word := range bytes.FieldsFuncSeq(phrase, func(c rune) bool { return c < 0x80 && isSeedGap(byte(c)) }) {
		words[string(word)] = true
	}
	return len(words) >= seedLength/2
}

// seedWordsAfter counts the words of the list from t[i] on, and returns where they end.
func seedWordsAfter(t []byte, i int) (end, words int) {
	for end = i; ; words++ {
		i = end
		for i < len(t) && i-end < seedGap && isSeedGap(t[i]) {
			i++
		}
		from := i
		for i < len(t) && i-from <= longestWord && isLetter(t[i]) {
			i++
		}
		if !isSeedWord(t[from:i]) {
			return end, words
		}
		end = i
	}
}

// seedWordsBefore counts the words of the list up to t[i], without that in which it is, and
// returns where they begin, and where that word does.
func seedWordsBefore(t []byte, i int) (begin, middle, words int) {
	for middle = i; middle > 0 && i-middle <= longestWord && isLetter(t[middle-1]); {
		middle--
	}
	if middle == i && !isLetter(t[i]) && !isSeedGap(t[i]) || isLetter(t[middle]) && !isSeedWordAt(t, middle) {
		return i, i, 0
	}
	for begin = middle; ; words++ {
		i = begin
		for i > 0 && begin-i < seedGap && isSeedGap(t[i-1]) {
			i--
		}
		to := i
		for i > 0 && to-i <= longestWord && isLetter(t[i-1]) {
			i--
		}
		if !isSeedWord(t[i:to]) {
			return begin, middle, words
		}
		begin = i
	}
}

func isSeedWordAt(t []byte, i int) bool {
	to := i
	for to < len(t) && to-i <= longestWord && isLetter(t[to]) {
		to++
	}
	return isSeedWord(t[i:to])
}

func isSeedWord(word []byte) bool {
	return 3 <= len(word) && len(word) <= longestWord && seedWords()[packed(word)]
}

// isSeedGap reports whether a byte may be between the words of a phrase, in a list too.
func isSeedGap(c byte) bool { return isDigit(c) || strings.IndexByte(" \t\r\n,.;:)\"\\|", c) >= 0 }
