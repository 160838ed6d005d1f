package page_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/inspect/screen/page"
)

func TestWords(t *testing.T) {
	tests := []struct {
		words, text string
		want        string // the text with matches in brackets
	}{
		{"mean", "The mean of Means", "The [mean] of [Mean]s"},
		{"Mean", "The mean of Means", "The mean of [Mean]s"},
		{"aa", "aaaaa", "[aa][aa]a"},
		{"the  mean", "the mean, the\n   mean", "[the mean], [the\n   mean]"},
		{" mean ", "themean", "the[mean]"},
		{"grüße ÄÖ", "GRÜSSE Grüße ÄÖ", "GRÜSSE Grüße ÄÖ"},
		{"grüße äö", "Grüße ÄÖ", "[Grüße ÄÖ]"},
		{"世界", "hello 世界!", "hello [世界]!"},
		{"a.b", "axb a.b", "axb [a.b]"},
		{"x", "\xffx\xff", "\xff[x]\xff"},
		{"", "text", "text"},
		{"  ", "te  xt", "te  xt"},
	}
	for _, tt := range tests {
		if got := bracketed(page.Phrase(tt.words), tt.text); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.words, got, tt.want)
		}
	}
}

// TestAny finds texts and regular expressions, none within another.
func TestAny(t *testing.T) {
	words := page.Any([]string{"read file", "file"}, []*regexp.Regexp{regexp.MustCompile(`\d*`)})
	if got, want := bracketed(words, "Read file 12, file 7"), "[Read file] [12], [file] [7]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := words.String(), `read file | file | \d*`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEach finds words in any order, each of which must be there.
func TestEach(t *testing.T) {
	words := page.Each("fix  Mean")
	for text, want := range map[string]bool{"Mean: a fix": true, "fix the mean": false, "Mean": false} {
		if got := words.Fit(text); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
	if got, want := bracketed(words, "Mean: a fix"), "[Mean]: a [fix]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := words.Rows([]page.TextRow{{Text: "fix a Mean"}, {}, {Text: "Mean"}}); len(got) != 2 || len(got[0]) != 2 {
		t.Errorf("got %v, want a match on each of two rows, of two words on the first", got)
	}
}

// TestLineBreak: what matches nothing but the end of a line cannot be shown.
func TestLineBreak(t *testing.T) {
	words := page.Any(nil, []*regexp.Regexp{regexp.MustCompile(`\s`)})
	got := words.Rows([]page.TextRow{{Text: "a b"}, {Text: "c", Join: page.AtBlank}})
	if diff := cmp.Diff(got, []page.Match{{{Row: 0, From: 1, To: 2}}}); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

func bracketed(words page.Words, text string) string {
	var b strings.Builder
	end := 0
	for _, at := range words.In(text) {
		b.WriteString(text[end:at[0]] + "[" + text[at[0]:at[1]] + "]")
		end = at[1]
	}
	return b.String() + text[end:]
}

// TestSearch goes from match to match, around both ends, and from where the user has
// gone meanwhile. Words may stand across rows that are joined.
func TestSearch(t *testing.T) {
	rows := []page.TextRow{
		{Text: "no"},
		{Text: "  one two and the one"},
		{Text: "  two three", Join: page.AtBlank},
		{Text: "wo"},
		{Text: "rd one t", Join: page.Within},
		{Text: "wo", Join: page.Within},
		{Text: "two", Join: page.Apart},
	}
	s := page.NewSearch(page.Phrase("one two"))
	s.Update(rows)
	goes := func(step page.Step, row int, want page.Match, round bool, at string) {
		t.Helper()
		got, gotRound := s.Go(step, row)
		if diff := cmp.Diff(got, want); diff != "" || gotRound != round {
			t.Errorf("from row %d: round %v, want %v (-got +want):\n%s", row, gotRound, round, diff)
		}
		n, all := s.Position(want[0].Row)
		if got := fmt.Sprint(n, " of ", all); got != at {
			t.Errorf("from row %d: got %s, want %s", row, got, at)
		}
	}
	first := page.Match{{Row: 1, From: 2, To: 9}}
	across := page.Match{{Row: 1, From: 18, To: 21}, {Row: 2, From: 2, To: 5}}
	within := page.Match{{Row: 4, From: 3, To: 8}, {Row: 5, From: 0, To: 2}}
	goes(page.Here, 0, first, false, "1 of 3")
	goes(page.Next, 1, across, false, "2 of 3")
	if diff := cmp.Diff(s.Marks(2), []page.Mark{{From: 2, To: 5, Current: true}}); diff != "" {
		t.Errorf("marks of row 2 (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(s.Marks(1), []page.Mark{{From: 2, To: 9}, {From: 18, To: 21, Current: true}}); diff != "" {
		t.Errorf("marks of row 1 (-got +want):\n%s", diff)
	}
	goes(page.Next, 1, within, false, "3 of 3")
	goes(page.Next, 4, first, true, "1 of 3")
	goes(page.Previous, 1, within, true, "3 of 3")
	goes(page.Next, 0, first, false, "1 of 3") // from elsewhere
	goes(page.Previous, 3, across, false, "2 of 3")
	goes(page.Here, 6, first, true, "1 of 3")
	if at, all := s.Position(6); at != 0 || all != 3 {
		t.Errorf("away from the match: got %d of %d, want 0 of 3", at, all)
	}
	s.Update(rows[:1])
	if found, _ := s.Go(page.Next, 0); found != nil || s.Current() != nil {
		t.Errorf("got %v where there are none", found)
	}
}

func BenchmarkRows(b *testing.B) {
	var rows []page.TextRow
	for i := range 200_000 {
		rows = append(rows, page.TextRow{Text: fmt.Sprint("    the parser reads the next token ", i)})
	}
	for _, words := range []string{"the", "token 1999", "zzz"} {
		b.Run(words, func(b *testing.B) {
			for b.Loop() {
				page.Phrase(words).Rows(rows)
			}
		})
	}
}
