package screen

import (
	"fmt"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// A searchable is text in which words are found while they are typed: a page, or the
// frame in the pane.
type searchable interface {
	BeginSearch()
	Search(page.Words)
	CancelSearch()
	EndSearch()
	Words() page.Words
	NextMatch(forward bool) (found, round bool)
	Match() (at, all int)
}

// searched returns the text that the user sees.
func (a *app) searched() searchable {
	if a.page != nil {
		return a.page
	}
	return &a.pane
}

// narrows reports whether words leave the lines that have them.
func (a *app) narrows() bool { return a.page != nil && a.page.Narrows }

// askWords asks for words, and goes to the first match while they are typed. A list is
// narrowed to the lines that have them.
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

// nextMatch goes to the next match, or to the one before, of what was looked for here,
// or else of what was looked for last.
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

// sayRound says that what was looked for was found round an end.
func (a *app) sayRound(forward bool) {
	if forward {
		a.notify("from the top again")
	} else {
		a.notify("from the bottom again")
	}
}

// lookFor marks in the frames what a filter asks of their texts, in place of what another
// filter asked.
func (a *app) lookFor(f filter.Filter) {
	words := page.Any(f.Texts())
	if !words.IsZero() || a.marksWanted() {
		a.pane.Look(words)
	}
	a.wanted = words
}

// marksWanted reports whether the words in the pane are those that a filter asks for.
func (a *app) marksWanted() bool {
	return !a.wanted.IsZero() && a.pane.Words().String() == a.wanted.String()
}

// sayNotFound says what is not in a text.
func (a *app) sayNotFound(s searchable) {
	if _, all := s.Match(); all > 0 || s.Words().IsZero() {
		return
	}
	where := "not here: "
	if a.page == nil {
		where = "not in this frame: "
	}
	a.notify(where + termtext.Piece(s.Words().String()))
}

// matchText says which match the user is on, and how many there are.
func matchText(s searchable) string {
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

// searchNote says what is looked for here.
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
