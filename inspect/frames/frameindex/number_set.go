package frameindex

import (
	"math/bits"
	"slices"
)

// A NumberSet is a sorted set of frame numbers that knows each one's index. Changes at
// its end are the cheapest. Each group of 64 consecutive numbers that has a member takes
// two and a half bits per number.
type NumberSet struct {
	places []uint64 // positions of the words, as number/64; no word is zero
	words  []uint64
	before []uint32 // number of members in the words before each
	size   int
}

// Clone returns an independent copy that another goroutine may use.
func (s *NumberSet) Clone() *NumberSet {
	return &NumberSet{slices.Clone(s.places), slices.Clone(s.words), slices.Clone(s.before), s.size}
}

// Add adds a number.
func (s *NumberSet) Add(seq uint64) {
	w, found := s.word(seq)
	if !found {
		before := uint32(s.size)
		if w < len(s.before) {
			before = s.before[w]
		}
		s.places, s.words, s.before = slices.Insert(s.places, w, seq/64), slices.Insert(s.words, w, 0), slices.Insert(s.before, w, before)
	}
	if bit := uint64(1) << (seq % 64); s.words[w]&bit == 0 {
		s.words[w] |= bit
		s.count(w, 1)
	}
}

// remove removes a number, if it is there.
func (s *NumberSet) remove(seq uint64) {
	if !s.Has(seq) {
		return
	}
	w, _ := s.word(seq)
	s.words[w] &^= 1 << (seq % 64)
	s.count(w, -1)
	if s.words[w] == 0 {
		s.places, s.words, s.before = slices.Delete(s.places, w, w+1), slices.Delete(s.words, w, w+1), slices.Delete(s.before, w, w+1)
	}
}

// count adds more to a word's member count.
func (s *NumberSet) count(w, more int) {
	s.size += more
	for i := w + 1; i < len(s.before); i++ {
		s.before[i] += uint32(more)
	}
}

// word returns the index of the word for a number, and whether it exists; if not, w is
// where to insert it.
func (s *NumberSet) word(seq uint64) (w int, found bool) {
	if w := seq/64 - min(s.first(), seq/64); w < uint64(len(s.places)) && s.places[w] == seq/64 {
		return int(w), true // true if no number is missing
	}
	if n := len(s.places); n == 0 || s.places[n-1] < seq/64 {
		return n, false
	}
	return slices.BinarySearch(s.places, seq/64)
}

func (s *NumberSet) first() uint64 {
	if len(s.places) == 0 {
		return 0
	}
	return s.places[0]
}

// Len returns the number of members.
func (s *NumberSet) Len() int { return s.size }

// Has reports whether a number is in the set.
func (s *NumberSet) Has(seq uint64) bool {
	w, found := s.word(seq)
	return found && s.words[w]>>(seq%64)&1 == 1
}

// Below returns the number of members smaller than seq.
func (s *NumberSet) Below(seq uint64) int {
	w, found := s.word(seq)
	switch {
	case w == len(s.words):
		return s.size
	case !found:
		return int(s.before[w])
	}
	return int(s.before[w]) + bits.OnesCount64(s.words[w]&(1<<(seq%64)-1))
}

// At returns the member at index i, or 0 if there is none.
func (s *NumberSet) At(i int) uint64 {
	if i < 0 || i >= s.size {
		return 0
	}
	w, found := slices.BinarySearch(s.before, uint32(i))
	if !found {
		w--
	}
	word := s.words[w]
	for range i - int(s.before[w]) {
		word &= word - 1
	}
	return s.places[w]*64 + uint64(bits.TrailingZeros64(word))
}

// Next returns the first member at or above seq, or 0 if there is none.
func (s *NumberSet) Next(seq uint64) uint64 { return s.At(s.Below(seq)) }

// Previous returns the last member at or below seq, or 0 if there is none.
func (s *NumberSet) Previous(seq uint64) uint64 { return s.At(s.Below(seq+1) - 1) }
