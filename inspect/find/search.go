package find

import "slices"

// A Search is words, and where they stand in rows that may change. One of the places
// is the current one.
type Search struct {
	words   Words
	matches []Match
	current int // index in matches; -1: none is
}

// NewSearch returns a search that has found nothing yet.
func NewSearch(w Words) *Search { return &Search{words: w, current: -1} }

// Words returns what is looked for. A nil Search looks for nothing.
func (s *Search) Words() Words {
	if s == nil {
		return Words{}
	}
	return s.words
}

// Searched reports whether rows were searched.
func (s *Search) Searched() bool { return s.matches != nil }

// Update searches rows in place of those before. The current match stays the one with
// that many before it, for rows are added at the end as a rule.
func (s *Search) Update(rows []Row) {
	s.matches = s.words.Rows(rows)
	if s.current >= len(s.matches) {
		s.current = -1
	}
}

// A Step is which match is wanted next.
type Step uint8

const (
	Here     Step = iota // the first one on a row or behind it
	Next                 // the one behind the current one, if that is on the row
	Previous             // the one before it
)

// Go makes another match the current one, as seen from a row, going on at the other end
// where there is no other. It reports whether there is any, and whether it has gone
// round.
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
		to, _ = slices.BinarySearchFunc(s.matches, row, func(m Match, row int) int { return m[0].Row - row })
		if step == Previous {
			to--
		}
	}
	s.current = (to + n) % n
	return s.matches[s.current], to < 0 || to == n
}

// on reports whether a part of a match is on a row.
func (s *Search) on(match, row int) bool {
	return slices.ContainsFunc(s.matches[match], func(at Spot) bool { return at.Row == row })
}

// Current returns the current match, nil if there is none.
func (s *Search) Current() Match {
	if s == nil || s.current < 0 {
		return nil
	}
	return s.matches[s.current]
}

// Position returns which match is the current one, from 1, and how many there are. If
// the row is not on it, none is.
func (s *Search) Position(row int) (at, all int) {
	if s.current >= 0 && s.on(s.current, row) {
		at = s.current + 1
	}
	return at, len(s.matches)
}

// A Mark is a part of a row that is a match, or belongs to one.
type Mark struct {
	From, To int // bytes of the row
	Current  bool
}

// Marks returns the marks of a row, in order.
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
