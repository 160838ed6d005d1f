package find_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/inspect/screen/find"
)

// TestUpdate: rows that change again and again are found the same words in as if they
// were searched for the first time.
func TestUpdate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	row := func() find.Row {
		texts := []string{"one", "two", "one two", " two one", ""}
		return find.Row{Text: texts[random.IntN(len(texts))], Join: find.Join(random.IntN(3))}
	}
	for _, words := range []find.Words{find.Phrase("one two"), find.Phrase("wo"), find.Each("two one")} {
		var rows []find.Row
		s := find.NewSearch(words)
		for range 300 {
			before := rows
			from := random.IntN(len(rows) + 1)
			to := from + random.IntN(min(len(rows)-from, 4)+1)
			var added []find.Row
			for range random.IntN(5) {
				added = append(added, row())
			}
			rows = slices.Replace(slices.Clone(rows), from, to, added...)
			s.Update(rows)
			fresh := find.NewSearch(words)
			fresh.Update(rows)
			for i := range rows {
				if diff := cmp.Diff(s.Marks(i), fresh.Marks(i)); diff != "" {
					t.Fatalf("%s on row %d of %q, after %q (-got +want):\n%s", words, i, rows, before, diff)
				}
			}
			_, all := s.Position(0)
			if _, want := fresh.Position(0); all != want {
				t.Fatalf("%s in %q, after %q: got %d matches, want %d", words, rows, before, all, want)
			}
		}
	}
}

// TestUpdateKeepsMatch: the current match stays the same when rows come or go before it.
func TestUpdateKeepsMatch(t *testing.T) {
	s := find.NewSearch(find.Phrase("one"))
	updated := func(row int, want string, rows ...string) {
		t.Helper()
		var list []find.Row
		for _, text := range rows {
			list = append(list, find.Row{Text: text})
		}
		s.Update(list)
		if m := s.Current(); m == nil || m[0].Row != row || rows[row] != want {
			t.Errorf("in %q: got %v, want the one on row %d", rows, m, row)
		}
	}
	s.Update([]find.Row{{Text: "one"}, {Text: "the one"}, {Text: "no one"}})
	s.Go(find.Here, 1)
	updated(3, "the one", "one", "one", "one one", "the one", "no one")
	updated(1, "the one", "none at all", "the one", "no one")
	updated(1, "the one", "none at all", "the one")
}
