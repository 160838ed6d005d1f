// Package screen is a terminal browser for tapes. It shows the tapes in a store, the
// frames of a tape or a session, its conversation, its turns over time, the capabilities
// of both sides, statistics, and where both sides broke their protocol. It follows tapes
// that are being recorded. Nothing received over the wire can control the terminal.
//
// The package never changes a tape, and deletes one only after the user confirms.
package screen

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/acptap/acptap/inspect/screen/findingpage"
	"github.com/acptap/acptap/inspect/screen/framepane"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// An Inspector is a terminal browser for tapes. Only its event loop touches the screen.
// Separate goroutines read tapes from end to end.
type Inspector struct {
	Theme      Theme         // empty: ANSI
	Background tcell.Color   // the terminal's background; zero: unknown
	Store      *record.Store // nil: no list of tapes
	Filter     string        // for the frames of the first tape or session opened
	Place      Place         // where to begin; zero: the store, or the summary of a subject

	// History is the file that keeps the latest filters. It need not exist. If empty,
	// they are not kept.
	History string
	Screen  tcell.Screen // nil: the terminal

	// View opens a file in the program named by an environment variable, PAGER or EDITOR.
	// The program has the terminal until View returns. If nil, viewing is not available.
	View func(variable, path string) error
	Now  func() time.Time // nil: time.Now

	// Controls connects to the proxies of tapes that are being recorded. If nil, no frames
	// can be held.
	Controls Controls

	// After is the time that an agent may be silent before it counts as hanging; 0:
	// stall.DefaultAfter.
	After time.Duration
}

// A Subject is what the user is looking at: a tape, or a session, which may span several.
type Subject struct {
	Name    string
	Session string // empty: the whole tape
	Frame   uint64 // initial one; 0: the first, or the last of a live tape
	// Open opens the tape, or the session's tapes ordered by time. It is called several
	// times, since a Tape is for one goroutine.
	Open func() ([]*record.Tape, error)
}

// TapesOf returns a tape in a store, or a session with the tapes that it is on.
func TapesOf(store *record.Store, session string, ids ...string) Subject {
	open := func() ([]*record.Tape, error) {
		var tapes []*record.Tape
		for _, id := range ids {
			tape, err := store.Open(id)
			if err != nil {
				return nil, err
			}
			tapes = append(tapes, tape)
		}
		return tapes, nil
	}
	name := ids[0]
	if n := len(ids); n > 1 {
		name = fmt.Sprintf("%d tapes", n)
	}
	return Subject{Name: name, Session: session, Open: open}
}

// Run shows a subject, or the store if the subject has no Open, until the user quits or ctx
// is done.
func (in Inspector) Run(ctx context.Context, sub Subject) error {
	if in.Now == nil {
		in.Now = time.Now
	}
	if in.Theme == "" {
		in.Theme = ANSI
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ui := tview.NewApplication()
	a, began := newApp(ctx, in, ui), time.Now()
	a.quit = cancel
	if err := a.begin(sub); err != nil {
		return err
	}
	if in.Screen != nil {
		ui.SetScreen(in.Screen)
	}
	ui.EnableMouse(true).EnablePaste(true).SetRoot(a, true)

	var stopping sync.WaitGroup
	if a.tapes.store != nil {
		a.jobs.Go(func() { a.tapes.watch(ctx, began, storeNews{a.updates.post, a.announce, a.readNotes}) })
		a.jobs.Go(func() {
			stall.Follow(ctx, a.tapes.store, a.After, func(tape string, hangs []stall.Hang) {
				a.updates.post(func() { a.tapes.hang(tape, hangs) })
			})
		})
	}
	ended := make(chan struct{})
	stopping.Go(func() {
		a.updates.run(ctx, ui, ended, a.refresh)
		select {
		case <-ended: // perhaps because there is no terminal: then Stop would panic
		default:
			ui.Stop() // after Stop, QueueUpdate would block forever, so it must not be called
		}
	})
	err := ui.Run()
	if err != nil {
		err = fmt.Errorf("the terminal: %w", err)
	}
	close(ended)
	cancel()
	stopping.Wait()
	a.closeTape()()
	a.search.Stop()()
	a.diff.Stop()()
	a.tapes.briefs.reading.Stop()()
	a.jobs.Wait()
	return err
}

// begin goes to the first place.
func (a *app) begin(sub Subject) error {
	switch {
	case sub.Open == nil && a.Place.ofTape():
		return fmt.Errorf("the place %s needs a tape: name one, such as last", placeNames[a.Place])
	case sub.Open == nil:
		a.visit(storePlace)
	default:
		if err := a.openTape(sub, a.Filter); err != nil {
			return err
		}
		if sub.Frame != 0 {
			a.model.follow, a.model.target, a.opening = false, sub.Frame, false
		}
	}
	switch {
	case a.Place != noPlace:
		a.visit(a.Place)
	case sub.Open != nil && sub.Frame == 0:
		a.visit(a.first())
	}
	return nil
}

// An app holds everything on the screen.
type app struct {
	*tview.Box
	Inspector
	ctx  context.Context
	quit func()
	keys []key
	jobs sync.WaitGroup // goroutines that end on their own, or with ctx

	// noting is held from reading or writing notes until the result is posted, so the
	// event loop receives the latest result last.
	noting sync.Mutex

	display
	document
	panels
	footer
	history  history // of filters
	searches history // of searched words
}

// A display is the terminal and how to draw on it.
type display struct {
	ui       *tview.Application
	screen   tcell.Screen // since the first drawing
	updates  *updates
	look     looks
	mouseOff bool
	clicks   clicks
	share    int  // share of the list next to or above the pane, out of wholeShare; 0: the default
	dragging bool // the mouse holds the divider
}

// The panels are the places, and those parts of them that are on the screen.
type panels struct {
	place       Place
	pages       [places]*page.Page
	page        *page.Page // the page on the screen; nil: the frames
	tapes       tapeList
	search      *searchPage
	diff        diffPlaceState
	pane        framepane.Pane
	inPane      bool // the keys go to the pane
	noteRows    int  // number of rows above the pane's content
	details     details
	lastFailure failureFound
	ruleList    *page.Page // the rules of the proxy
}

// A footer holds the content of the last lines.
type footer struct {
	prompt  *prompt // nil: none
	prefix  string  // the first of two keys
	message string  // until the next key
	trouble bool    // the message is an error
}

func newApp(ctx context.Context, in Inspector, ui *tview.Application) *app {
	a := &app{Box: tview.NewBox(), Inspector: in, ctx: ctx, keys: allKeys(keyTable())}
	a.display = display{ui: ui, updates: newUpdates(), look: in.Theme.looks(256, in.Background)}
	a.model.folded, a.history, a.searches = true, newHistory(in.History), newHistory(searchesFile(in.History))
	a.place, a.tapes, a.search = framesPlace, newTapeList(in.Store, in.Now), &searchPage{results: &results{}}
	a.found = &findingpage.Reader{}
	a.pages[storePlace] = &page.Page{Lines: a.tapes.lines, Enter: a.openEntry, Narrows: true}
	return a
}

// part returns the part of the screen that has the keyboard focus.
func (a *app) part() part {
	switch {
	case a.page == nil && a.inPane:
		return inPane
	case a.page == nil:
		return inList
	case a.page == a.ruleList:
		return inRules
	case a.page != a.pages[a.place]:
		return inHelp
	case a.details.focus && a.detailed():
		return inDetails
	case a.place == storePlace && a.timeline != nil:
		return inStore
	case a.place == storePlace && len(a.tapes.entries) > 0:
		return inStart
	case a.place == storePlace:
		return inEmpty
	case a.place == diffPlace:
		return inDiff
	case a.place == chatPlace:
		return inChat
	case a.place == turnsPlace:
		return inTurns
	case a.place == searchPlace:
		return inFound
	case a.place == findingsPlace:
		return inFindings
	}
	return inText
}

// notify shows a message until the next key.
func (f *footer) notify(text string) { f.message, f.trouble = text, false }

// fail shows an error.
func (f *footer) fail(err error) {
	if err != nil {
		f.message, f.trouble = termtext.Piece(err.Error()), true
	}
}

// InputHandler handles keys.
func (a *app) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return func(e *tcell.EventKey, setFocus func(tview.Primitive)) {
		if p := a.prompt; p != nil {
			if !p.key(e) {
				p.field.InputHandler()(e, func(tview.Primitive) {})
			}
			return
		}
		a.press(keyName(e))
	}
}

// PasteHandler inserts pasted text into the prompt, if there is one.
func (a *app) PasteHandler() func(string, func(tview.Primitive)) {
	return func(text string, setFocus func(tview.Primitive)) {
		if a.prompt != nil {
			a.prompt.wrong = ""
			a.prompt.field.PasteHandler()(text, func(tview.Primitive) {})
		}
	}
}
