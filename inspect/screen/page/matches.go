package page

import "strings"

// A TextRow is a searchable line.
type TextRow struct {
	Text string
	Join Join
}

// A Join says how a row continues the previous one.
type Join uint8

const (
	Apart   Join = iota // no match extends over both rows
	AtBlank             // the text continues after a blank
	Within              // the text continues, possibly within a word
)

// A Match is an occurrence of the words: on one row, or on several joined ones with a
// spot on each.
type Match []Spot

// move moves a match down by some rows.
func (m Match) move(rows int) {
	for i := range m {
		m[i].Row += rows
	}
}

// A Spot is a byte range in a row.
type Spot struct{ Row, From, To int }

// A finder finds words in rows.
type finder struct {
	words Words
	rows  []TextRow
	spots []Spot   // of all matches
	ends  []int    // for each match, its end in spots
	in    [][2]int // matches in the text searched last
}

// Rows returns the matches in rows, in order.
func (w Words) Rows(rows []TextRow) []Match {
	f := finder{words: w, rows: rows}
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].Join != Apart {
			to++
		}
		if to == from+1 {
			f.single(from)
		} else {
			f.joined(from, to)
		}
		from = to
	}
	matches := make([]Match, len(f.ends))
	begin := 0
	for i, end := range f.ends {
		matches[i] = f.spots[begin:end]
		begin = end
	}
	return matches
}

// single finds the words in a row that is not joined to others.
func (f *finder) single(row int) {
	f.in = f.words.appendIn(f.in[:0], f.rows[row].Text)
	for _, at := range f.in {
		f.spots = append(f.spots, Spot{row, at[0], at[1]})
		if !f.words.each {
			f.end()
		}
	}
	f.end()
}

// end completes a match, if any part of it is visible.
func (f *finder) end() {
	if n := len(f.ends); n == 0 && len(f.spots) > 0 || n > 0 && f.ends[n-1] < len(f.spots) {
		f.ends = append(f.ends, len(f.spots))
	}
}

// joined finds the words in rows that form one text.
func (f *finder) joined(from, to int) {
	var text strings.Builder
	starts := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		if i > from && f.rows[i].Join == AtBlank {
			text.WriteByte('\n')
		}
		starts = append(starts, text.Len())
		text.WriteString(f.rows[i].Text)
	}
	f.in = f.words.appendIn(f.in[:0], text.String())
	row := 0
	for _, at := range f.in {
		for row+1 < len(starts) && starts[row+1] <= at[0] {
			row++
		}
		for i := row; i < len(starts) && starts[i] < at[1]; i++ {
			if s, ok := spotOn(f.rows[from+i].Text, at[0]-starts[i], at[1]-starts[i], i > row); ok {
				s.Row = from + i
				f.spots = append(f.spots, s)
			}
		}
		f.end()
	}
}

// spotOn returns the part of a match that is on a row. On rows after the first it skips
// leading blanks.
func spotOn(text string, from, to int, later bool) (s Spot, ok bool) {
	from, to = max(from, 0), min(to, len(text))
	if later {
		from = len(text) - len(strings.TrimLeft(text, " "))
	}
	return Spot{From: from, To: to}, from < to
}
