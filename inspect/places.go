package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Place is what fills the screen.
type Place uint8

const (
	noPlace Place = iota
	storePlace
	framesPlace
	chatPlace
	turnsPlace
	capsPlace
	numbersPlace
	searchPlace
	places
)

var placeNames = [places]string{
	storePlace: "store", framesPlace: "frames", chatPlace: "chat", turnsPlace: "turns", capsPlace: "caps",
	numbersPlace: "numbers", searchPlace: "search",
}

// Places returns the names of the places that an Inspector can begin with.
func Places() []string { return slices.Clone(placeNames[storePlace:searchPlace]) }

// Set takes one of Places.
func (p *Place) Set(name string) error {
	i := slices.Index(Places(), name)
	if i < 0 {
		return fmt.Errorf("there are %s", strings.Join(Places(), ", "))
	}
	*p = storePlace + Place(i)
	return nil
}

func (p *Place) String() string { return placeNames[*p] }

// Type says what Set takes.
func (p *Place) Type() string { return "place" }

var (
	errNoTape  = errors.New("choose a tape first: Enter opens it")
	errNoStore = errors.New("this is a file: there is no store around it")
)

// ofTape reports whether a place shows what is opened.
func (p Place) ofTape() bool { return framesPlace <= p && p <= numbersPlace }

// visit goes to a place. The selected frame stays selected.
func (a *app) visit(to Place) {
	switch {
	case to == storePlace && a.Store == nil:
		a.fail(errNoStore)
		return
	case to.ofTape() && a.reel == nil:
		a.fail(errNoTape)
		return
	case to.ofTape() && to != framesPlace:
		if err := a.tell(); err != nil {
			a.fail(err)
			return
		}
	}
	a.leave()
	a.place, a.page = to, a.pages[to]
	if p := a.page; p != nil && to.ofTape() {
		if p.wish = a.model.selected; a.model.follow {
			p.toLast()
		}
	}
}

// leave selects the frame that the user has gone to in the place.
func (a *app) leave() {
	p := a.page
	if p == nil || !p.moved || p.cursor >= len(p.shown) {
		return
	}
	p.moved = false
	if seq := p.shown[p.cursor].seq; seq != 0 && a.place.ofTape() {
		a.fail(a.model.jump(seq))
	}
}

// tell has the story of the tape told, if it is not yet.
func (a *app) tell() error {
	if a.story != nil {
		return nil
	}
	r, err := a.reel.Reopen()
	if err != nil {
		return err
	}
	s := &story{label: a.reel.Label, tapes: len(r.Parts)}
	a.telling.start(a.ctx, func(ctx context.Context) { s.read(ctx, r, a.feed.poke) })
	a.story = s

	c := newChat(s, slices.Repeat([]time.Time{a.model.start}, len(r.Parts)), a.session)
	soFar := func() any { return s.soFar() }
	a.pages[chatPlace] = &page{
		lines: c.lines, state: c.state, told: s.upTo,
		enter: func(l line) { c.flip(l); a.page.wish, a.page.follow = l.seq, false }, fold: c.flipAll,
	}
	a.pages[turnsPlace] = &page{
		lines: func(width int) []line { return s.waterfall(a.session(), width, a.sinceStart()) }, told: s.upTo,
		enter: a.showFrame,
	}
	a.pages[capsPlace] = &page{
		lines: func(width int) []line { return s.capabilities(width, a.book.Frame) }, state: soFar,
		enter: a.showFrame,
	}
	a.pages[numbersPlace] = &page{lines: s.numbers, state: soFar, enter: a.showFrame}
	return nil
}

// showFrame goes to the frame that a line is about.
func (a *app) showFrame(l line) {
	if l.seq == 0 {
		return
	}
	if err := a.model.jump(l.seq); err != nil {
		a.fail(err)
		return
	}
	a.page.moved = false
	a.visit(framesPlace)
}

// openShelved opens the tape or session on a line of the store.
func (a *app) openShelved(l line) {
	if l.item < 0 || l.item >= len(a.shelf.entries) {
		return
	}
	e := a.shelf.entries[l.item]
	if e.broken != nil {
		a.fail(e.broken)
		return
	}
	if err := a.openTape(TapesOf(a.Store, e.session, e.tapes...), a.Filter); err != nil {
		a.fail(err)
		return
	}
	if i := slices.Index(e.tapes, e.tape.Tape); i > 0 && !a.info.Live {
		a.model.wish = a.reel.Parts[i].Before + e.first
	}
	a.visit(framesPlace)
}
