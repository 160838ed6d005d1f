package inspect

import (
	"math/bits"
	"slices"
)

// A numberSet is a set of frame numbers that grows at its end, with the place of
// each in their order. It takes a bit and a half for each number up to the
// largest.
type numberSet struct {
	words  []uint64
	before []uint32 // members in the words before each
	n      int
}

// add adds a number that is larger than all in the set.
func (s *numberSet) add(seq uint64) {
	for w := int(seq / 64); len(s.words) <= w; {
		s.words = append(s.words, 0)
		s.before = append(s.before, uint32(s.n))
	}
	s.words[seq/64] |= 1 << (seq % 64)
	s.n++
}

func (s *numberSet) has(seq uint64) bool {
	return seq/64 < uint64(len(s.words)) && s.words[seq/64]>>(seq%64)&1 == 1
}

// below returns how many members are smaller than seq.
func (s *numberSet) below(seq uint64) int {
	if seq/64 >= uint64(len(s.words)) {
		return s.n
	}
	return int(s.before[seq/64]) + bits.OnesCount64(s.words[seq/64]&(1<<(seq%64)-1))
}

// at returns the member with i members before it, 0 if there is none.
func (s *numberSet) at(i int) uint64 {
	if i < 0 || i >= s.n {
		return 0
	}
	w, found := slices.BinarySearch(s.before, uint32(i))
	if found {
		for w+1 < len(s.before) && s.before[w+1] == uint32(i) { // words without members
			w++
		}
	} else {
		w--
	}
	word := s.words[w]
	for range i - int(s.before[w]) {
		word &= word - 1
	}
	return uint64(w)*64 + uint64(bits.TrailingZeros64(word))
}

// next returns the first member that is seq or larger, 0 if there is none.
func (s *numberSet) next(seq uint64) uint64 { return s.at(s.below(seq)) }

// previous returns the last member that is seq or smaller, 0 if there is none.
func (s *numberSet) previous(seq uint64) uint64 { return s.at(s.below(seq+1) - 1) }
