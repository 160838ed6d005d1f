package frameindex

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNumberSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, gap := range []uint64{1, 3, 200} {
		var s NumberSet
		var want []uint64
		for seq := uint64(0); len(want) < 500; {
			seq += 1 + rng.Uint64N(gap)
			s.Add(seq)
			want = append(want, seq)
		}
		last := want[len(want)-1]
		for seq := uint64(0); seq <= last+200; seq++ {
			below, has := slices.BinarySearch(want, seq)
			if s.Below(seq) != below || s.Has(seq) != has {
				t.Fatalf("gaps to %d: %d has %d below (want %d), has %v (want %v)", gap, seq, s.Below(seq), below, s.Has(seq), has)
			}
			var next, previous uint64
			if below < len(want) {
				next = want[below]
			}
			if below > 0 {
				previous = want[below-1]
			}
			if has {
				previous = seq
			}
			if s.Next(seq) != next || s.Previous(seq) != previous {
				t.Fatalf("gaps to %d: next of %d is %d (want %d), previous %d (want %d)", gap, seq, s.Next(seq), next, s.Previous(seq), previous)
			}
		}
		for i, seq := range want {
			if s.At(i) != seq {
				t.Fatalf("gaps to %d: %d is at %d, want %d", gap, s.At(i), i, seq)
			}
		}
	}
}

// Numbers may be added and taken out anywhere.
func TestNumberSetChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, most := range []uint64{100, 1000, 100_000} {
		var s NumberSet
		var want []uint64
		for range 3000 {
			seq := 1 + rng.Uint64N(most)
			i, there := slices.BinarySearch(want, seq)
			if rng.IntN(3) > 0 {
				if s.Add(seq); !there {
					want = slices.Insert(want, i, seq)
				}
			} else if s.remove(seq); there {
				want = slices.Delete(want, i, i+1)
			}
			probe := rng.Uint64N(most + 200)
			below, has := slices.BinarySearch(want, probe)
			if s.Len() != len(want) || s.Below(probe) != below || s.Has(probe) != has {
				t.Fatalf("up to %d: %d members (want %d), %d has %d below (want %d), has %v (want %v)", most, s.Len(), len(want), probe, s.Below(probe), below, s.Has(probe), has)
			}
			if i := rng.IntN(len(want) + 1); i < len(want) && s.At(i) != want[i] {
				t.Fatalf("up to %d: %d is at %d, want %d", most, s.At(i), i, want[i])
			}
		}
	}
}
