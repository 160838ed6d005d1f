package page_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/inspect/screen/page"
)

// TestUpdate: rows that change again and again are found the same words in as if they
// were searched for the first time.
func TestUpdate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	row := func() page.TextRow {
		texts := []string{"one", "two", "one two", " two one", ""}
		return page.TextRow{Text: texts[random.IntN(len(texts))], Join: page.Join(random.IntN(3))}
	}
	for _, words := range []page.Words{page.Phrase("one two"), page.Phrase("wo"), page.Each("two one")} {
		var rows []page.TextRow
		s := page.NewSearch(words)
		for range 300 {
			before := rows
			from := random.IntN(len(rows) + 1)
			to := from + random.IntN(min(len(rows)-from, 4)+1)
			var added []page.TextRow
			for range random.IntN(5) {
				added = append(added, row())
			}
			rows = slices.Replace(slices.Clone(rows), from, to, added...)
			s.Update(rows)
			fresh := page.NewSearch(words)
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
	s := page.NewSearch(page.Phrase("one"))
	updated := func(row int, want string, rows ...string) {
		t.Helper()
		var list []page.TextRow
		for _, text := range rows {
			list = append(list, page.TextRow{Text: text})
		}
		s.Update(list)
		if m := s.Current(); m == nil || m[0].Row != row || rows[row] != want {
			t.Errorf("in %q: got %v, want the one on row %d", rows, m, row)
		}
	}
	s.Update([]page.TextRow{{Text: "one"}, {Text: "the one"}, {Text: "no one"}})
	s.Go(page.Here, 1)
	updated(3, "the one", "one", "one", "one one", "the one", "no one")
	updated(1, "the one", "none at all", "the one", "no one")
	updated(1, "the one", "none at all", "the one")
}
