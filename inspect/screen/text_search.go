package screen

import (
	"fmt"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// searched returns the page that has the keys, or the frame in the pane.
func (a *app) searched() *page.Page {
	switch {
	case a.page == nil:
		return &a.pane.Page
	case a.part() == inDetails:
		return a.detailPage()
	}
	return a.page
}

// narrows reports whether a search hides the lines that do not match.
func (a *app) narrows() bool { return a.searched().Narrows }

// askWords asks for words, and goes to the first match while the user types. In a list it
// hides lines that do not match.
func (a *app) askWords() {
	s, label, text, wordsOf := a.searched(), "search: ", "", page.Phrase
	if a.narrows() {
		label, text, wordsOf = "filter: ", s.Words().String(), page.Each
	}
	s.BeginSearch()
	a.ask(label, text, func(text string) error {
		switch {
		case text == "" && !a.narrows():
			s.Search(page.Phrase(a.searches.Last()))
		case !a.narrows():
			a.searches.Add(text)
		}
		a.sayNotFound(s)
		return nil
	})
	p := a.prompt
	p.past, p.line = a.searches.Lines(), len(a.searches.Lines())
	p.left = s.CancelSearch
	p.count = func() string { return matchText(s) }
	p.field.SetChangedFunc(func(text string) { s.Search(wordsOf(text)) })
}

// nextMatch goes to the next or previous match of the search here, or, if there is none,
// of the last search anywhere.
func (a *app) nextMatch(forward bool) {
	s := a.searched()
	found, round := s.NextMatch(forward)
	if s.Words().IsZero() {
		if a.searches.Last() == "" || a.narrows() {
			a.askWords()
			return
		}
		s.BeginSearch()
		s.Search(page.Phrase(a.searches.Last()))
		if _, all := s.Match(); all > 0 && !forward {
			found, round = s.NextMatch(false)
		}
	}
	switch {
	case !found:
		a.sayNotFound(s)
	case round:
		a.sayRound(forward)
	}
}

// sayRound says that the search has wrapped around.
func (a *app) sayRound(forward bool) {
	if forward {
		a.notify("from the top again")
	} else {
		a.notify("from the bottom again")
	}
}

// lookFor highlights a filter's words in frames, in place of the previous filter's.
func (a *app) lookFor(f filter.Filter) {
	words := page.Any(f.Texts())
	if !words.IsZero() || a.marksWanted() {
		a.pane.Look(words)
	}
	a.wanted = words
}

// marksWanted reports whether the pane highlights the filter's words.
func (a *app) marksWanted() bool {
	return !a.wanted.IsZero() && a.pane.Words().String() == a.wanted.String()
}

// sayNotFound says that there are no matches.
func (a *app) sayNotFound(s *page.Page) {
	if _, all := s.Match(); all > 0 || s.Words().IsZero() {
		return
	}
	where := "not here: "
	if a.page == nil {
		where = "not in this frame: "
	}
	a.notify(where + termtext.Piece(s.Words().String()))
}

// matchText returns the number of the current match, and the total number.
func matchText(s *page.Page) string {
	if s.Words().IsZero() {
		return ""
	}
	switch at, all := s.Match(); {
	case all == 0:
		return "no match"
	case at > 0:
		return fmt.Sprintf("%s of %s", termtext.Grouped(int64(at)), termtext.Grouped(int64(all)))
	case all == 1:
		return "1 match"
	default:
		return termtext.Grouped(int64(all)) + " matches"
	}
}

// searchNote describes the current search.
func (a *app) searchNote() []termtext.Span {
	s := a.searched()
	if s.Words().IsZero() {
		return nil
	}
	word := " · search "
	switch {
	case a.narrows():
		word = " · filter "
	case a.page == nil && a.marksWanted():
		return []termtext.Span{termtext.Dim.Span(" · in this frame: " + matchText(s))}
	}
	return []termtext.Span{termtext.Dim.Span(word), termtext.Cyan.Span(termtext.Piece(s.Words().String())), termtext.Dim.Span(": " + matchText(s))}
}
