package page

// An anchor remembers the line under the cursor, to find it again after the lines have been
// rebuilt.
type anchor struct {
	key   string
	seq   uint64
	first int // first line about that frame
}

func (p *Page) anchor() anchor {
	l := p.Current()
	first := p.cursor
	for first > 0 && first < len(p.shown) && p.shown[first-1].Seq == l.Seq {
		first--
	}
	return anchor{l.Key, l.Seq, first}
}

// stayOn puts the cursor back on its line. In a page ordered by frames, lines without a key
// also keep their place on the screen.
func (p *Page) stayOn(at anchor) {
	if p.toKey(at.key) || at.seq == 0 || p.UpTo == nil {
		return
	}
	for away := range len(p.shown) {
		for _, i := range [2]int{at.first + away, at.first - away} {
			if p.begins(i, at.seq) {
				p.cursor += i - at.first
				p.top += i - at.first
				return
			}
		}
	}
}

// begins reports whether a line is the first one about a frame.
func (p *Page) begins(i int, seq uint64) bool {
	return 0 <= i && i < len(p.shown) && p.shown[i].Seq == seq && (i == 0 || p.shown[i-1].Seq != seq)
}
