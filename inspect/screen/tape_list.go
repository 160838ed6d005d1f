package screen

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/termtext"
)

// A tapeList is the place that lists a store's tapes and the sessions on them.
type tapeList struct {
	store *record.Store
	now   func() time.Time

	loaded  bool
	listing record.Listing
	texts   map[string][]note.Note  // those on whole tapes
	hangs   map[string][]stall.Hang // those on tapes being recorded
	err     error
	entries []tapeEntry   // entries of the lines last drawn
	marked  tapeEntry     // to be compared with another; zero: none
	order   tapeOrder     // the order of the tapes
	briefs  briefs        // summaries of tapes
	shown   chan struct{} // has capacity one: the list is on the screen
}

func newTapeList(store *record.Store, now func() time.Time) tapeList {
	return tapeList{store: store, now: now, hangs: map[string][]stall.Hang{}, shown: make(chan struct{}, 1)}
}

// A tapeEntry is a tape, or a session.
type tapeEntry struct {
	tape    record.Info // the tape, or the one under which the session is listed
	level   int         // nesting depth
	session string      // empty: the entry is the tape
	title   string      // of the session, or of the tape's only one
	first   uint64      // the session's first frame on that tape
	tapes   []string    // the tapes to open
	broken  error
}

const (
	// listEvery is the interval for relisting tapes that are being recorded or are not
	// yet compressed. Counting them requires reading all their journals.
	listEvery = time.Second

	// changesEvery is the shortest time between two listings while tapes come and go.
	changesEvery = 200 * time.Millisecond
)

// storeNews holds callbacks for changes to a store. post makes the event loop call a
// function.
type storeNews struct {
	post  func(func())
	begun func(record.Info) // a recording has begun
	notes func()            // tags or notes have changed
}

// watch lists the store when tapes come and go, and while tapes change, until ctx is
// done. It pauses while the list is not on the screen. Tapes that begin after began are
// reported as news.
func (l *tapeList) watch(ctx context.Context, began time.Time, news storeNews) {
	var listed time.Time
	changed, unsettled := true, true // the store has changed since the last listing; tapes in that listing may change
	looked := false                  // the tapes that initially existed have been yielded
	for c, err := range l.store.Watch(ctx, nil) {
		looked = looked || err == nil && c.Kind == record.StoreLooked
		switch {
		case err != nil:
		case c.Kind == record.TapeAppeared && c.Live && looked:
			l.tellBegun(c.Tape, time.Time{}, news)
		case c.Kind == record.TapeAppeared && c.Live:
			l.tellBegun(c.Tape, began, news) // it may have begun during the first look
		case c.Kind == record.NotesChanged && looked:
			news.post(news.notes)
		}
		if err != nil || c.Kind != record.StoreLooked {
			changed = true
			continue
		}
		due := time.Since(listed) >= listEvery
		if !due && !(changed && time.Since(listed) >= changesEvery) || !l.seen() && !listed.IsZero() {
			continue
		}
		listed = time.Now()
		if !changed && !unsettled {
			news.post(func() {}) // redraw the ages
			continue
		}
		listing, err := l.store.List()
		changed, unsettled = false, err != nil || !settled(&listing)
		texts := l.noteTexts(&listing)
		news.post(func() { l.listing, l.texts, l.err, l.loaded = listing, texts, err, true })
	}
}

// tellBegun reports a recording that began after the given time.
func (l *tapeList) tellBegun(id string, after time.Time, news storeNews) {
	tape, err := l.store.Open(id)
	if err != nil {
		return // deleted in the meantime
	}
	start, err := tape.Start() // unlike Info, it waits for a recorder that is about to write that
	if err != nil || !start.Time.After(after) {
		return
	}
	if info, err := tape.Info(); err == nil {
		news.post(func() { news.begun(info) })
	}
}

// maxTold limits the tapes whose notes are read.
const maxTold = 500

// noteTexts reads the notes on tapes that have any.
func (l *tapeList) noteTexts(listing *record.Listing) map[string][]note.Note {
	texts := map[string][]note.Note{}
	for _, i := range slices.Backward(listing.Tapes) { // newest first
		if i.Notes == 0 || len(texts) == maxTold {
			continue
		}
		if list, err := l.store.Notes(i.Tape); err == nil {
			texts[i.Tape] = list.On(0)
		}
	}
	return texts
}

// seen reports whether the list has been on the screen since the last call.
func (l *tapeList) seen() bool {
	select {
	case <-l.shown:
		return true
	default:
		return false
	}
}

// settled reports whether a listing stays the same until tapes come and go.
func settled(l *record.Listing) bool {
	return len(l.Broken) == 0 && !slices.ContainsFunc(l.Tapes, func(i record.Info) bool { return !i.Complete })
}

// lines lists the tapes, newest first, each with its sessions and the tapes of its
// agent's servers.
func (l *tapeList) lines(width int) []page.Line {
	select {
	case l.shown <- struct{}{}:
	default:
	}
	l.entries = l.entries[:0]
	switch {
	case !l.loaded:
		return []page.Line{{Spans: []termtext.Span{termtext.Dim.Span("reading…")}, Item: -1}}
	case l.err != nil:
		return []page.Line{{Spans: []termtext.Span{termtext.Failure.Span("The store cannot be read: " + termtext.Piece(l.err.Error()))}, Item: -1}}
	case len(l.listing.Tapes) == 0 && len(l.listing.Broken) == 0:
		return l.empty()
	}
	lines := []page.Line{l.heading(width)}
	for _, b := range l.listing.Broken {
		lines = append(lines, l.add(tapeEntry{tape: record.Info{Tape: b.Tape}, broken: b.Err},
			unreadableSpans(b.Tape, b.Err, width)))
	}
	tree := tapeTree{tapeList: l, nesting: record.NestingOf(l.listing.Tapes), rows: map[string]*tapeRow{}, width: width}
	costs := l.listing.Costs()
	for _, tape := range l.listing.Tapes {
		tree.rows[tape.Tape] = &tapeRow{Info: tape, costs: costs[tape.Tape]}
	}
	for _, session := range l.listing.Sessions {
		for _, run := range session.Runs {
			if row := tree.rows[run.Tape]; row != nil {
				row.sessions = append(row.sessions, session)
			}
		}
	}
	tapes := make([]*tapeRow, 0, len(tree.rows))
	for _, tape := range slices.Backward(l.listing.Tapes) {
		if tree.nesting.Parent(tape.Tape) == "" {
			tapes = append(tapes, tree.rows[tape.Tape])
		}
	}
	l.order.sort(tapes)
	for _, tape := range tapes {
		lines = tree.add(lines, tape, 0)
	}
	return lines
}

// A tapeTree lists tapes, each with its sessions and nested tapes.
type tapeTree struct {
	*tapeList
	nesting record.Nesting
	rows    map[string]*tapeRow // by tape
	width   int
}

// deepest limits the levels of nesting shown. Each takes two columns.
const deepest = 4

// add adds a tape's lines at a level of nesting. A session has a line of its own if there
// are others on the tape, or if it is on other tapes too.
func (t *tapeTree) add(lines []page.Line, tape *tapeRow, level int) []page.Line {
	l := t.tapeList
	level = min(level, deepest-1)
	lines = append(lines, l.add(tapeEntry{tape: tape.Info, level: level, title: tape.title(), tapes: []string{tape.Tape}}, l.tapeSpans(tape, t.width, level)))
	for _, spans := range tapeNoteSpans(l.texts[tape.Tape]) {
		lines = append(lines, page.Line{Spans: spans, Item: len(l.entries) - 1, Level: level + 1})
	}
	for _, session := range tape.listed() {
		nth := slices.IndexFunc(session.Runs, func(r record.Run) bool { return r.Tape == tape.Tape })
		run := session.Runs[nth]
		e := tapeEntry{tape: tape.Info, level: level + 1, session: session.ID, title: cmp.Or(session.Topic(), session.ID), first: run.First}
		for _, r := range session.Runs {
			e.tapes = append(e.tapes, r.Tape)
		}
		lines = append(lines, l.add(e, sessionSpans(&session, nth, t.width, level+1)))
	}
	for _, child := range t.nesting.Children(tape.Tape) {
		lines = t.add(lines, t.rows[child.Tape], level+1)
	}
	return lines
}

// branch returns the prefix of a nested line.
func branch(level int) string { return strings.Repeat("  ", level-1) + "└ " }

// key identifies an entry; it is empty for the zero entry.
func (e *tapeEntry) key() string {
	if e.tape.Tape == "" {
		return ""
	}
	return e.tape.Tape + " " + e.session
}

// entry returns the tape or session on a line.
func (l *tapeList) entry(line page.Line) (e tapeEntry, ok bool) {
	if line.Item < 0 || line.Item >= len(l.entries) {
		return tapeEntry{}, false
	}
	return l.entries[line.Item], true
}

// entry returns the tape or session under the cursor.
func (a *app) entry() (e tapeEntry, ok bool) { return a.tapes.entry(a.page.Current()) }

func (l *tapeList) add(e tapeEntry, spans []termtext.Span) page.Line {
	l.entries = append(l.entries, e)
	if key := e.key(); key == l.marked.key() {
		_, first := utf8.DecodeRuneInString(spans[0].Text)
		spans[0] = termtext.Yellow.Span("▪" + spans[0].Text[first:])
	}
	line := page.Line{Spans: spans, Item: len(l.entries) - 1, Key: e.key(), Level: e.level}
	if line.Also = e.session + " " + e.title; e.session == "" {
		line.Also = termtext.Spaced(e.tape.Tape, e.title, tapetext.Place(e.tape), tapetext.AgentName(e.tape))
	}
	return line
}

func (l *tapeList) empty() []page.Line {
	var lines []page.Line
	for _, text := range []string{
		"There are no tapes in " + termtext.Piece(l.store.Dir()) + " yet.",
		"",
		"To record one, put",
		"    acptap proxy --",
		"before the agent's command in the settings of your editor, and use it.",
		"Recordings appear here immediately.",
		"",
		"acptap demo makes a tape without an editor and an agent.",
	} {
		lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Plain.Span(text)}, Item: -1})
	}
	return lines
}

// hang records what hangs on a tape.
func (l *tapeList) hang(tape string, hangs []stall.Hang) {
	if l.hangs[tape] = hangs; len(hangs) == 0 {
		delete(l.hangs, tape)
	}
}

// hangSign marks a tape on which something hangs. It is two columns wide.
const hangSign = "⏳"

// hangText describes what hangs in a session, or on the whole tape; it is empty if
// nothing does.
func hangText(hangs []stall.Hang, session string, now time.Time) string {
	text, more := "", 0
	for i := range hangs {
		switch h := &hangs[i]; {
		case session != "" && h.Session != "" && h.Session != session:
		case text == "":
			text = h.Brief(now)
		default:
			more++
		}
	}
	if more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return text
}
