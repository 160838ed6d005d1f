package inspect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/record"
)

// An Inspector is a browser of tapes in the terminal. Only its event loop
// touches what is on the screen; what reads tapes from end to end has goroutines
// of its own.
type Inspector struct {
	Theme  Theme         // empty: ANSI
	Store  *record.Store // nil: there is no list of tapes
	Filter string        // that the list of frames begins with
	Screen tcell.Screen  // nil: the terminal

	// View shows a file in the program that an environment variable names, PAGER
	// or EDITOR. It has the terminal until it returns. nil: there is none.
	View func(variable, path string) error
	Now  func() time.Time // nil: time.Now
}

// A Subject is what is looked at: a tape, or what is on it of one session.
type Subject struct {
	Name    string
	Session string // empty: all of the tape
	// Open opens the tape. It is called several times: a Tape is for one
	// goroutine.
	Open func() (*record.Tape, error)
}

// Run shows a subject, or the store if that has no Open, until the user quits or
// ctx is done.
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
	a := newApp(ctx, in, ui)
	a.quit = cancel
	if sub.Open == nil {
		a.visit(storePlace)
	} else if err := a.openTape(sub); err != nil {
		return err
	}
	if in.Screen != nil {
		ui.SetScreen(in.Screen)
	}
	ui.EnableMouse(true).EnablePaste(true).SetRoot(a, true)

	var stopping sync.WaitGroup
	if a.shelf.store != nil {
		a.jobs.Go(func() { a.shelf.watch(ctx, a.feed.put) })
	}
	ended := make(chan struct{})
	stopping.Go(func() {
		a.feed.run(ctx, ui, ended, a.refresh)
		select {
		case <-ended: // possibly because there is no terminal: then Stop panics
		default:
			ui.Stop() // QueueUpdate would not return after it, so nobody may be there
		}
	})
	err := ui.Run()
	if err != nil {
		err = fmt.Errorf("the terminal: %w", err)
	}
	close(ended)
	cancel()
	stopping.Wait()
	a.closeTape()
	a.jobs.Wait()
	return err
}

// An app is all that is on the screen.
type app struct {
	*tview.Box
	Inspector
	ctx      context.Context
	quit     func()
	ui       *tview.Application
	feed     *feed
	look     looks
	keys     []key
	screen   tcell.Screen // since the first drawing
	before   []string     // filters that were left, the last one last
	mouseOff bool

	subject   Subject
	info      record.Info
	scan      *scan  // nil: no tape is open
	stop      func() // ends the scan, and waits for it
	story     *story // nil: nobody has asked for it
	stopStory func()
	stopHunt  func()
	jobs      sync.WaitGroup // what ends by itself, or with ctx
	model     model
	book      book

	pane   pane
	inPane bool // the keys go to the pane
	place  place
	pages  [places]*page
	page   *page // that is shown; nil: the frames
	shelf  shelf
	prompt *prompt // nil: none
	prefix string  // the first of two keys

	message string // on the status line, until the next key
	trouble bool   // it is an error
}

func newApp(ctx context.Context, in Inspector, ui *tview.Application) *app {
	a := &app{
		Box: tview.NewBox(), Inspector: in, ctx: ctx, ui: ui, feed: newFeed(), look: in.Theme.looks(),
		keys: keyTable(), stop: func() {}, stopStory: func() {}, stopHunt: func() {}, model: model{folded: true},
		place: framesPlace, shelf: shelf{store: in.Store, now: in.Now},
	}
	a.pages[storePlace] = &page{lines: a.shelf.lines, enter: a.openShelved}
	return a
}

// part returns where keys go.
func (a *app) part() part {
	switch {
	case a.page == nil && a.inPane:
		return inPane
	case a.page == nil:
		return inList
	case a.page != a.pages[a.place]:
		return inHelp
	case a.place == storePlace:
		return inStore
	case a.place == chatPlace:
		return inChat
	}
	return inText
}

// say shows a message until the next key.
func (a *app) say(text string) { a.message, a.trouble = text, false }

// fail shows what went wrong.
func (a *app) fail(err error) {
	if err != nil {
		a.message, a.trouble = piece(err.Error()), true
	}
}

// openTape opens a tape and begins to read it.
func (a *app) openTape(sub Subject) error {
	tape, err := sub.Open()
	if err != nil {
		return err
	}
	info, err := tape.Info()
	if err != nil {
		return err
	}
	a.closeTape()
	a.subject, a.info, a.book, a.pane = sub, info, newBook(tape), pane{form: a.pane.form}
	a.model = model{folded: a.model.folded, times: a.model.times, start: info.Start.Time.Local(), follow: info.Live}
	query, err := queryOf(sub, a.Filter)
	if err != nil {
		return err
	}
	return a.setFilter(query)
}

// closeTape ends what reads the tape.
func (a *app) closeTape() {
	a.stop()
	a.stopStory()
	a.stopHunt()
	a.stop, a.stopStory, a.stopHunt, a.story = func() {}, func() {}, func() {}, nil
}

// setFilter shows the frames that a filter lets through.
func (a *app) setFilter(text string) error {
	want, err := filter.Parse(text)
	if err != nil {
		return err
	}
	tape, err := a.subject.Open()
	if err != nil {
		return err
	}
	a.stop()
	a.stopHunt()
	if a.scan != nil && a.Filter != text && !(len(a.before) > 0 && a.before[len(a.before)-1] == a.Filter) {
		a.before = append(a.before, a.Filter)
	}
	a.Filter = text
	a.model.restart()
	ctx, cancel := context.WithCancel(a.ctx)
	a.scan = &scan{filter: want, start: a.model.start, news: a.feed.poke}
	var reading sync.WaitGroup
	reading.Go(func() { a.scan.read(ctx, tape) })
	if a.info.Live {
		reading.Go(func() { a.tick(ctx) })
	}
	a.stop = func() { cancel(); reading.Wait() }
	return nil
}

// tick draws the timers of what is open.
func (a *app) tick(ctx context.Context) {
	every := time.NewTicker(500 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			a.feed.poke()
		}
	}
}

// refresh takes what the scan has found.
func (a *app) refresh() {
	if a.scan == nil {
		return
	}
	found := a.scan.take()
	a.model.take(found)
	a.book.add(found.fresh)
	if found.ended && a.info.Live {
		if info, err := a.book.tape.Info(); err == nil {
			a.info = info
		}
	}
}

// InputHandler takes the keys.
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

// PasteHandler takes pasted text, where something is typed.
func (a *app) PasteHandler() func(string, func(tview.Primitive)) {
	return func(text string, setFocus func(tview.Primitive)) {
		if a.prompt != nil {
			a.prompt.field.PasteHandler()(text, func(tview.Primitive) {})
		}
	}
}
