package inspect

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/frametext"
)

func TestNumberSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, gap := range []uint64{1, 3, 200} {
		var s numberSet
		var want []uint64
		for seq := uint64(0); len(want) < 500; {
			seq += 1 + rng.Uint64N(gap)
			s.add(seq)
			want = append(want, seq)
		}
		last := want[len(want)-1]
		for seq := uint64(0); seq <= last+200; seq++ {
			below, has := slices.BinarySearch(want, seq)
			if s.below(seq) != below || s.has(seq) != has {
				t.Fatalf("gaps to %d: %d has %d below (want %d), has %v (want %v)", gap, seq, s.below(seq), below, s.has(seq), has)
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
			if s.next(seq) != next || s.previous(seq) != previous {
				t.Fatalf("gaps to %d: next of %d is %d (want %d), previous %d (want %d)", gap, seq, s.next(seq), next, s.previous(seq), previous)
			}
		}
		for i, seq := range want {
			if s.at(i) != seq {
				t.Fatalf("gaps to %d: %d is at %d, want %d", gap, s.at(i), i, seq)
			}
		}
	}
}

// Numbers may be added and taken out anywhere.
func TestNumberSetChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, most := range []uint64{100, 1000, 100_000} {
		var s numberSet
		var want []uint64
		for range 3000 {
			seq := 1 + rng.Uint64N(most)
			i, there := slices.BinarySearch(want, seq)
			if rng.IntN(3) > 0 {
				if s.add(seq); !there {
					want = slices.Insert(want, i, seq)
				}
			} else if s.remove(seq); there {
				want = slices.Delete(want, i, i+1)
			}
			probe := rng.Uint64N(most + 200)
			below, has := slices.BinarySearch(want, probe)
			if s.n != len(want) || s.below(probe) != below || s.has(probe) != has {
				t.Fatalf("up to %d: %d members (want %d), %d has %d below (want %d), has %v (want %v)", most, s.n, len(want), probe, s.below(probe), below, s.has(probe), has)
			}
			if i := rng.IntN(len(want) + 1); i < len(want) && s.at(i) != want[i] {
				t.Fatalf("up to %d: %d is at %d, want %d", most, s.at(i), i, want[i])
			}
		}
	}
}

// A jump that came before the scan has looked at its frame is told what is wrong
// as any other is.
func TestWishOfHiddenFrame(t *testing.T) {
	m := &model{label: func(seq uint64) string { return strconv.FormatUint(seq, 10) }}
	if err := m.jump(3); err != nil {
		t.Fatal(err)
	}
	err := m.take(findings{sights: []sight{newSight(2, true, false, false), newSight(4, true, false, false)}, last: 5, caught: true})
	if err == nil || err.Error() != "frame 3 does not fit the filter" || m.selected != 2 {
		t.Errorf("got %v, and frame %d selected, want frame 2 and why", err, m.selected)
	}
}

// TestWish: a frame that the scan has yet to find is selected then, unless the user
// goes elsewhere meanwhile.
func TestWish(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*model)
		want uint64
	}{
		{"nothing", func(*model) {}, 50},
		{"down", func(m *model) { m.move(1) }, 2},
		{"to the last", func(m *model) { m.end() }, 10},
		{"another frame", func(m *model) { m.jump(3) }, 3},
		{"to the first", (*model).home, 1},
	} {
		m := model{follow: true}
		scanned := func(from, to uint64, caught bool) {
			f := findings{last: to, caught: caught}
			for seq := from; seq <= to; seq++ {
				f.sights = append(f.sights, newSight(seq, true, false, false))
			}
			m.take(f)
		}
		scanned(1, 10, false)
		m.move(-9)
		if err := m.jump(50); err != nil {
			t.Fatal(err)
		}
		tt.do(&m)
		scanned(11, 60, true)
		if m.selected != tt.want {
			t.Errorf("%s: got frame %d, want %d", tt.name, m.selected, tt.want)
		}
	}
}

// FuzzTree shows values of any shape, whole or cut off.
func FuzzTree(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":null}],"text":"x\ny","data":"QUJD"}`, `[`, `{"a"`, `{"a":`, `"`, `"\`, `}`, `{"a":{"b":"c`, `[[[[]]]]`, `{1:2}`, `nul`,
		`{"type":"diff","oldText":"a\nb","newText":"a\nc"}`, strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p pane
		p.tree = newTree(frametext.Completed(raw))
		p.fold, p.whole = map[int32]bool{}, map[int32]bool{}
		if len(p.tree.nodes) == 0 {
			return
		}
		p.frame.Raw, p.frame.Size = raw, int64(len(raw))
		for _, width := range []int{1, 20, 80} {
			from, to := p.window(width, 30)
			for k := from; k < to; k++ {
				for _, s := range p.spans(k) {
					if strings.ContainsAny(s.Text, "\x1b\n\r\t\x00\x7f") {
						t.Fatalf("line %d of %q has control characters: %q", k, raw, s.Text)
					}
				}
			}
			p.move(3)
			p.open()
			p.find("b", true)
		}
		for i := range p.tree.nodes {
			p.tree.path(int32(i))
			if i > 100 {
				break
			}
		}
	})
}
