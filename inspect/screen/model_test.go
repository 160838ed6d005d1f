package screen

import (
	"strconv"
	"testing"

	"github.com/acptap/acptap/inspect/frames/frameindex"
)

// A jump to a frame that the scan has not reached yet reports the same errors as any other
// jump.
func TestWishOfHiddenFrame(t *testing.T) {
	m := &model{label: func(seq uint64) string { return strconv.FormatUint(seq, 10) }}
	if err := m.jump(3); err != nil {
		t.Fatal(err)
	}
	err := m.add(frameindex.Found{Matches: []frameindex.Match{{Seq: 2, Head: true}, {Seq: 4, Head: true}}, Last: 5, Complete: true})
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
			f := frameindex.Found{Last: to, Complete: caught}
			for seq := from; seq <= to; seq++ {
				f.Matches = append(f.Matches, frameindex.Match{Seq: seq, Head: true})
			}
			m.add(f)
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
