package page

import "slices"

// A Search holds words and their matches in rows that may change. One of the matches is
// the current one.
type Search struct {
	words   Words
	rows    []TextRow // rows that were searched
	matches []Match
	current int // index in matches; -1: none
}

// NewSearch returns a search that has not found anything yet.
func NewSearch(w Words) *Search { return &Search{words: w, current: -1} }

// Words returns the words being searched for. A nil Search has none.
func (s *Search) Words() Words {
	if s == nil {
		return Words{}
	}
	return s.words
}

// Searched reports whether any rows were searched.
func (s *Search) Searched() bool { return s.matches != nil }

// Update replaces the rows and searches those that differ from the previous ones. The
// current match remains unless it is on a row that differs; otherwise the match at the
// same position becomes current. The caller must not change rows afterwards.
func (s *Search) Update(rows []TextRow) {
	from, behind := changed(s.rows, rows)
	to := len(rows) - behind
	added := s.words.Rows(rows[from:to])
	for _, m := range added {
		m.move(from)
	}
	first, end := s.matchFrom(from), s.matchFrom(len(s.rows)-behind)
	if moved := len(rows) - len(s.rows); moved != 0 {
		for _, m := range s.matches[end:] {
			m.move(moved)
		}
	}
	if s.current >= end {
		s.current += len(added) - (end - first)
	}
	if s.matches == nil {
		s.matches = added
	} else {
		s.matches = slices.Replace(s.matches, first, end, added...)
	}
	if s.rows = rows; s.current >= len(s.matches) {
		s.current = -1
	}
}

// changed returns the number of equal rows at the beginning and at the end. The rows in
// between are not joined to them.
func changed(before, after []TextRow) (first, behind int) {
	n := min(len(before), len(after))
	for first < n && before[first] == after[first] {
		first++
	}
	for first > 0 && (isJoined(before, first) || isJoined(after, first)) {
		first--
	}
	for behind < n-first && before[len(before)-behind-1] == after[len(after)-behind-1] {
		behind++
	}
	for behind > 0 && isJoined(after, len(after)-behind) {
		behind--
	}
	return first, behind
}

// isJoined reports whether row i exists and is joined to the previous row.
func isJoined(rows []TextRow, i int) bool { return i < len(rows) && rows[i].Join != Apart }

// matchFrom returns the first match on or after a row.
func (s *Search) matchFrom(row int) int {
	i, _ := slices.BinarySearchFunc(s.matches, row, func(m Match, row int) int { return m[0].Row - row })
	return i
}

// A Step says which match to go to.
type Step uint8

const (
	Here     Step = iota // the first match on or after a row
	Next                 // the one after the current match, if that is on the row
	Previous             // the one before the current match
)

// Go makes another match the current one, relative to a row, and wraps around at either
// end. It returns the match, or nil if there is none, and whether it wrapped around.
func (s *Search) Go(step Step, row int) (found Match, round bool) {
	n := len(s.matches)
	if n == 0 {
		s.current = -1
		return nil, false
	}
	to := 0
	if at := s.current; at >= 0 && step != Here && s.on(at, row) {
		to = at + 1
		if step == Previous {
			to = at - 1
		}
	} else {
		to = s.matchFrom(row)
		if step == Previous {
			to--
		}
	}
	s.current = (to + n) % n
	return s.matches[s.current], to < 0 || to == n
}

// on reports whether part of a match is on a row.
func (s *Search) on(match, row int) bool {
	return slices.ContainsFunc(s.matches[match], func(at Spot) bool { return at.Row == row })
}

// Current returns the current match, or nil if there is none.
func (s *Search) Current() Match {
	if s == nil || s.current < 0 {
		return nil
	}
	return s.matches[s.current]
}

// Position returns the number of the current match, from 1, and the number of matches. at
// is 0 if the current match is not on the row.
func (s *Search) Position(row int) (at, all int) {
	if s.current >= 0 && s.on(s.current, row) {
		at = s.current + 1
	}
	return at, len(s.matches)
}

// A Mark is a part of a row that is a match or part of one.
type Mark struct {
	From, To int // byte range in the row
	Current  bool
}

// Marks returns a row's marks, in order.
func (s *Search) Marks(row int) []Mark {
	if s == nil {
		return nil
	}
	var marks []Mark
	i, _ := slices.BinarySearchFunc(s.matches, row, func(m Match, row int) int { return m[len(m)-1].Row - row })
	for ; i < len(s.matches) && s.matches[i][0].Row <= row; i++ {
		for _, at := range s.matches[i] {
			if at.Row == row {
				marks = append(marks, Mark{at.From, at.To, i == s.current})
			}
		}
	}
	return marks
}
