package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// blocks is a page of three blocks, the second of which is folded at first.
func blocks() (p *page.Page, open *bool) {
	open = new(bool)
	text := func(seq uint64, s string) page.Line {
		return page.Line{Spans: []termtext.Span{termtext.Plain.Span(s)}, Seq: seq}
	}
	p = &page.Page{
		Lines: func(int) []page.Line {
			second := []page.Line{text(2, "  head"), text(2, "one"), text(2, "the two and"), text(2, "  two again")}
			second[3].Joined = true
			if !*open {
				second[0].Folded = second[1:]
				second[0].Preview = []termtext.Span{termtext.Dim.Span(" the two…")}
				second = second[:1]
			}
			return append(append([]page.Line{text(1, "one"), text(1, "two")}, second...), text(3, "three, two"))
		},
		Flip: func(l page.Line) {
			if l.Seq == 2 {
				*open = !*open
			}
		},
	}
	p.Window(80, 4)
	return p, open
}

// screen returns the content of a screen of four rows, with marks in brackets, the current
// one with a star, and the cursor.
func screen(p *page.Page) string {
	w := p.Window(80, 4)
	var b strings.Builder
	for i, r := range w.Rows {
		text, shift := "", 0
		for _, s := range r.Spans {
			text += s.Text
		}
		for _, m := range r.Marks {
			end := "]"
			if m.Current {
				end = "*]"
			}
			text = text[:m.From+shift] + "[" + text[m.From+shift:m.To+shift] + end + text[m.To+shift:]
			shift += 1 + len(end)
		}
		if i == w.Cursor {
			text = "> " + text
		}
		b.WriteString(text + "\n")
	}
	at, all := p.Match()
	return b.String() + fmt.Sprintf("%d of %d", at, all)
}

func wantScreen(t *testing.T, p *page.Page, when, want string) {
	t.Helper()
	if diff := cmp.Diff(screen(p), want); diff != "" {
		t.Errorf("%s (-got +want):\n%s", when, diff)
	}
}

// TestSearchWhileTyping: matches that are folded away are found and unfolded, folded again
// when other words are typed, and Esc restores everything.
func TestSearchWhileTyping(t *testing.T) {
	p, open := blocks()
	p.Move(1)
	p.BeginSearch()
	p.Search(page.Phrase("t"))
	wantScreen(t, p, "a letter", "one\n> [t*]wo\n  head [t]he [t]wo…\n[t]hree, [t]wo\n1 of 6")
	p.Search(page.Phrase("the two"))
	wantScreen(t, p, "words that are folded away", "one\n> [the two*] and\n  two again\nthree, two\n1 of 1")
	p.Search(page.Phrase("three"))
	wantScreen(t, p, "further down", "one\ntwo\n  head the two…\n> [three*], two\n1 of 1")
	if *open {
		t.Error("what was unfolded for other words is not folded")
	}
	p.Search(page.Phrase("one"))
	wantScreen(t, p, "behind the cursor", "[one]\ntwo\n  head\n> [one*]\n2 of 2")
	p.Search(page.Phrase("nowhere"))
	wantScreen(t, p, "nowhere", "one\n> two\n  head the two…\nthree, two\n0 of 0")
	p.Search(page.Phrase("two and two"))
	wantScreen(t, p, "across lines", "one\n> the [two and*]\n  [two*] again\nthree, two\n1 of 1")
	p.CancelSearch()
	wantScreen(t, p, "after Esc", "one\n> two\n  head the two…\nthree, two\n0 of 0")
	if p.TakeMove() == 0 { // the user has moved before
		t.Error("the user has moved nowhere")
	}
}

// TestNextMatch goes from match to match and around, from wherever the cursor is.
func TestNextMatch(t *testing.T) {
	p, open := blocks()
	p.BeginSearch()
	p.Search(page.Phrase("two"))
	next := func(forward, round bool, want string) {
		t.Helper()
		found, gotRound := p.NextMatch(forward)
		if !found || gotRound != round {
			t.Errorf("found %v, round %v, want it found and round %v", found, gotRound, round)
		}
		wantScreen(t, p, "", want)
	}
	next(true, false, "one\n> the [two*] and\n  [two] again\nthree, [two]\n2 of 4")
	next(false, false, "one\n> [two*]\n  head\none\n1 of 4")
	next(false, true, "one\nthe [two] and\n  [two] again\n> three, [two*]\n4 of 4")
	next(true, true, "one\n> [two*]\n  head\none\n1 of 4")
	p.Move(-1)
	wantScreen(t, p, "away from the match", "> one\n[two*]\n  head\none\n0 of 4")
	*open = false // as the user may do
	next(true, false, "one\n> [two*]\n  head the [two]…\nthree, [two]\n1 of 4")
	p.EndSearch()
	wantScreen(t, p, "at the end", "one\n> two\n  head the two…\nthree, two\n0 of 0")
	if found, _ := p.NextMatch(true); found {
		t.Error("found something when nothing is looked for")
	}
}

// TestNarrow: words leave the lines that have all of them, with what these belong to
// and what belongs to these.
func TestNarrow(t *testing.T) {
	p := &page.Page{Narrows: true, Lines: func(int) []page.Line {
		lines := []page.Line{{Spans: []termtext.Span{termtext.Bold.Span("what two")}, Heading: page.Stays}}
		for i, text := range []string{"a", " one", " two", "b", "c two", " three", " four"} {
			level := 0
			if text[0] == ' ' {
				level = 1
			}
			lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Plain.Span(text)}, Item: i, Level: level, Also: fmt.Sprint("id", i)})
		}
		return lines
	}}
	p.Window(80, 9)
	p.Move(1)
	p.BeginSearch()
	p.Search(page.Each("two"))
	wantScreen(t, p, "a word", "a\n>  [two*]\nc [two]\n1 of 2")
	if found, round := p.NextMatch(true); !found || round {
		t.Errorf("found %v, round %v", found, round)
	}
	wantScreen(t, p, "the next one", "a\n [two]\n> c [two*]\n2 of 2")
	p.Search(page.Each("four two"))
	wantScreen(t, p, "words of a line and of what it belongs to", "c two\n>  [four*]\n1 of 1")
	p.Search(page.Each("ID3"))
	wantScreen(t, p, "nothing", "> No line has these words. Esc shows all.\n0 of 0")
	p.Search(page.Each("id3"))
	wantScreen(t, p, "what is not on the line", "> b\n1 of 1")
	p.EndSearch()
	wantScreen(t, p, "at the end", " one\n two\n> b\n0 of 0")
	p.BeginSearch()
	p.Search(page.Each("three"))
	p.CancelSearch()
	wantScreen(t, p, "after Esc", " one\n two\n> b\n0 of 0")
}
