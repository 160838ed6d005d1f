package screen

import (
	"cmp"
	"context"
	"errors"
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
	title   string      // of the session
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
	lines := []page.Line{tapeHeading(width)}
	for _, b := range l.listing.Broken {
		lines = append(lines, l.add(tapeEntry{tape: record.Info{Tape: b.Tape}, broken: b.Err},
			unreadableSpans(b.Tape, b.Err, width)))
	}
	tree := tapeTree{tapeList: l, nesting: record.NestingOf(l.listing.Tapes), sessions: map[string][]record.SessionInfo{}, width: width}
	for _, session := range l.listing.Sessions {
		for _, run := range session.Runs {
			tree.sessions[run.Tape] = append(tree.sessions[run.Tape], session)
		}
	}
	for _, tape := range slices.Backward(l.listing.Tapes) {
		if tree.nesting.Parent(tape.Tape) == "" {
			lines = tree.add(lines, tape, 0)
		}
	}
	return lines
}

// A tapeTree lists tapes, each with its sessions and nested tapes.
type tapeTree struct {
	*tapeList
	nesting  record.Nesting
	sessions map[string][]record.SessionInfo // by tape
	width    int
}

// deepest limits the levels of nesting shown. Each takes two columns.
const deepest = 4

// add adds a tape's lines at a level of nesting.
func (t *tapeTree) add(lines []page.Line, tape record.Info, level int) []page.Line {
	l := t.tapeList
	level = min(level, deepest-1)
	lines = append(lines, l.add(tapeEntry{tape: tape, level: level, tapes: []string{tape.Tape}}, l.tapeSpans(&tape, t.width, level)))
	for _, spans := range tapeNoteSpans(l.texts[tape.Tape]) {
		lines = append(lines, page.Line{Spans: spans, Item: len(l.entries) - 1, Level: level + 1})
	}
	for _, session := range t.sessions[tape.Tape] {
		nth := slices.IndexFunc(session.Runs, func(r record.Run) bool { return r.Tape == tape.Tape })
		run := session.Runs[nth]
		e := tapeEntry{tape: tape, level: level + 1, session: session.ID, title: cmp.Or(session.Topic(), session.ID), first: run.First}
		for _, r := range session.Runs {
			e.tapes = append(e.tapes, r.Tape)
		}
		lines = append(lines, l.add(e, sessionSpans(&session, nth, t.width, level+1)))
	}
	for _, child := range t.nesting.Children(tape.Tape) {
		lines = t.add(lines, child, level+1)
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
	line := page.Line{Spans: spans, Item: len(l.entries) - 1, Key: e.key(), Also: e.tape.Tape, Level: e.level}
	if e.session != "" {
		line.Also = e.session + " " + e.title
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
		"What is recorded shows up here at once.",
		"",
		"acptap demo makes a tape without an editor and an agent.",
	} {
		lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Plain.Span(text)}, Item: -1})
	}
	return lines
}

// tapeHeading returns the column headings.
func tapeHeading(width int) page.Line {
	columns := nameColumns(width)
	return page.Line{Spans: []termtext.Span{termtext.Bold.Span(termtext.Pad("  Tape or session", columns) + countColumns("age", "frames", "turns", "failed")), termtext.Bold.Span(termtext.Pad("state", stateColumns) + "directory")}, Item: -1, Heading: true}
}

const stateColumns = 12

// nameColumns returns the width of agent names and session titles.
func nameColumns(width int) int { return min(max(width*3/10, 12), 60) }

func countColumns(age, frames, turns, failed string) string {
	return fmt.Sprintf("%7s%8s%7s%8s  ", age, frames, turns, failed)
}

func (l *tapeList) tapeSpans(i *record.Info, width, level int) []termtext.Span {
	flag, look := "  ", termtext.Dim
	if i.Live {
		flag, look = "● ", termtext.LifeCycle
	}
	hangs := hangText(l.hangs[i.Tape], "", l.now())
	if hangs != "" {
		flag = hangSign
	}
	name, columns := termtext.Piece(tapetext.AgentName(*i)), nameColumns(width)-2-2*level
	row := []termtext.Span{look.Span(flag)}
	if level > 0 {
		row = append(row, termtext.Dim.Span(branch(level)))
		name = termtext.Piece(i.ServerName())
	}
	row = append(row, termtext.Bold.Span(termtext.Pad(termtext.Cut(name, columns), columns)))
	row = append(row, countSpans(tapetext.Age(l.now().Sub(i.Start.Time)), i.Frames, i.Turns, i.Failures)...)
	if i.Outcome().How.IsBad() {
		look = termtext.Failure
	}
	row = append(row, look.Span(termtext.Pad(termtext.Cut(tapetext.State(*i), stateColumns-2), stateColumns-2)+"  "))
	if hangs != "" {
		row = append(row, termtext.Permission.Span(hangs+"  "))
	}
	if i.Lost > 0 {
		row = append(row, termtext.Failure.Span(termtext.ByteSize(i.Lost)+" not recorded  "))
	}
	if tags := termtext.Piece(tapetext.Tags(i.Tags)); tags != "" {
		row = append(row, termtext.Bold.Span(tags+" "))
	}
	return append(row, termtext.Dim.Span(termtext.Spaced(termtext.Piece(tapetext.Place(*i)), " "+i.Tape)))
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

func unreadableSpans(tape string, err error, width int) []termtext.Span {
	columns, text := nameColumns(width), termtext.Piece(err.Error())
	if errors.Is(err, record.ErrDamaged) {
		text = "damaged"
	}
	return []termtext.Span{termtext.Failure.Span(termtext.Pad(termtext.Cut("✗ "+termtext.Piece(tape), columns), columns) + countColumns("", "", "", "") + text)}
}

// sessionSpans returns the line for the nth run of a session.
func sessionSpans(session *record.SessionInfo, nth, width, level int) []termtext.Span {
	columns := nameColumns(width) - 2 - 2*level
	title := termtext.Cut(termtext.Piece(cmp.Or(session.Topic(), session.ID)), columns)
	row := []termtext.Span{termtext.Dim.Span("  " + branch(level)), termtext.Plain.Span(termtext.Pad(title, columns))}
	run := session.Runs[nth]
	row = append(row, countSpans("", run.Frames, run.Turns, run.Failures)...)
	state := ""
	switch {
	case session.Deleted:
		state = "deleted"
	case session.Closed:
		state = "closed"
	case len(session.Runs) > 1:
		state = fmt.Sprintf("run %d of %d", nth+1, len(session.Runs))
	}
	return append(row, termtext.Dim.Span(termtext.Pad(state, stateColumns)+termtext.Piece(session.ID)))
}

func countSpans(age string, frames, turns, failures uint64) []termtext.Span {
	look := termtext.Plain
	if failures > 0 {
		look = termtext.Failure
	}
	text := countColumns(age, termtext.Grouped(int64(frames)), termtext.NonZero(int64(turns)), termtext.NonZero(int64(failures)))
	at := len(text) - len("        ") - 2 // column of the failures
	return []termtext.Span{termtext.Plain.Span(text[:at]), look.Span(text[at:])}
}
