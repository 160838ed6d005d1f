package screen

import (
	"cmp"
	"context"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/screen/findingpage"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/screen/tracepage"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// A document is what the user has opened: a tape, or a session.
type document struct {
	subject    Subject
	info       record.Info
	timeline   *frameindex.Timeline // for the event loop; nil: no tape is open
	rows       frameindex.RowCache
	written    frameNotes
	model      model
	snapshot   frameindex.Snapshot // snapshot of the index at the last drawing
	err        error               // for the last part that could not be read
	query      string              // the filter
	wanted     page.Words          // the words of the filter, or of the search that found the frame
	earlier    []string            // previous filters, latest last
	openedFrom Place               // the place from which it was opened
	returnTo   Place               // the place from which the user went to a frame; zero: none
	cameFrom   []wayBack           // the tapes that led here, latest last
	opening    bool                // the user has not moved since it was opened
	servers    bool                // servers' frames are shown among the agent's, if there are any
	holds      *holds              // the frames that wait at the proxy; nil: not connected
	restarted  record.Info         // a tape of the same agent that began later; zero: none is announced

	readers
}

// The readers read a tape in the background.
type readers struct {
	index *frameindex.Index
	scan  *frameindex.Scan        // finds the frames that the model shows
	trace *tracepage.Reader       // nil: no place has needed it yet
	talk  *tracepage.Conversation // view of trace
	turns *tracepage.Turns        // the same
	found *findingpage.Reader     // the zero Reader: no tape is open
	broke *findingpage.View       // view of found

	indexing, scanning, tracing, judging, seeking worker

	seekedTo string // progress of a slow seek; empty: there is none
}

// openTape opens a subject and starts reading it. query is the filter.
func (a *app) openTape(sub Subject, query string) error {
	query, err := queryOf(sub, query)
	if err != nil {
		return err
	}
	if err := a.readTape(sub, query); err != nil {
		return err
	}
	a.earlier, a.openedFrom, a.cameFrom, a.opening = nil, storePlace, nil, !a.info.Live
	opened := tapeEntry{tape: a.timeline.Latest().Info, session: sub.Session}
	a.pages[storePlace].Find(opened.key())
	return nil
}

// readTape starts reading a subject in place of the previous one.
func (a *app) readTape(sub Subject, query string) error {
	t, err := frameindex.OpenTimeline(sub.Name, sub.Open)
	if err != nil {
		return err
	}
	info, err := t.Info()
	if err != nil {
		return err
	}
	if a.servers && a.hasServers(t, info) {
		t.WithServers(a.Store)
	}
	reading, err := t.Reopen()
	if err != nil {
		return err
	}
	a.closeTape()
	a.subject, a.info, a.timeline, a.rows = sub, info, t, frameindex.NewRowCache(t)
	a.pane.Look(page.Words{})
	a.pane.Clear(0)
	a.written = frameNotes{timeline: t}
	a.snapshot, a.err, a.trace = frameindex.Snapshot{}, nil, nil
	a.model = model{folded: a.model.folded, times: a.model.times, start: info.Start.Time.Local(), label: t.Label, follow: info.Live}
	a.index = frameindex.NewIndex(a.updates.wake)
	a.indexing.Start(a.ctx, func(ctx context.Context) {
		var ticking worker
		if info.Live {
			ticking.Start(ctx, a.tick)
		}
		a.index.Read(ctx, reading)
		ticking.Stop()()
	})
	a.rows.Tools = frameindex.NewTools(a.updates.wake)
	if found := a.judge(); info.Lines <= maxTraced {
		a.feed(&a.judging, a.Store, a.rows.Tools, a.traces(), found)
	} else {
		a.feed(&a.judging, nil, a.rows.Tools, found)
	}
	if err := a.setFilter(query); err != nil {
		a.closeTape()
		return err
	}
	a.readNotes()
	a.connect()
	return nil
}

// maxTraced limits the number of frames for which conversations are read in the same pass
// as findings, before anyone looks at them. They take up to a kilobyte per frame.
const maxTraced = 1 << 16

// feed reads the tapes for some pages in the background, together with the tapes of the
// agent's servers that are in a store.
func (a *app) feed(w *worker, servers *record.Store, sinks ...frameindex.Sink) {
	t, index := a.timeline, a.index
	w.Start(a.ctx, func(ctx context.Context) { t.Feed(ctx, index, servers, sinks...) })
}

// closeTape ends all reading of the tape. The returned function blocks until it has
// ended.
func (a *app) closeTape() (wait func()) {
	a.endSeek()
	waits := []func(){a.disconnect()}
	for _, w := range []*worker{&a.indexing, &a.scanning, &a.tracing, &a.judging, &a.seeking} {
		waits = append(waits, w.Stop())
	}
	a.timeline, a.trace, a.found, a.subject, a.restarted = nil, nil, &findingpage.Reader{}, Subject{}, record.Info{}
	return func() {
		for _, wait := range waits {
			wait()
		}
	}
}

// queryOf returns a subject's initial filter.
func queryOf(sub Subject, query string) (string, error) {
	if sub.Session == "" {
		_, err := filter.Parse(query)
		return query, err
	}
	return filter.Add(query, "session", sub.Session, false)
}

// setFilter shows the frames that match a filter.
func (a *app) setFilter(text string) error {
	want, err := filter.Parse(text)
	if err != nil {
		return err
	}
	a.scanning.Stop()
	a.endSeek()
	a.query = text
	a.lookFor(want)
	a.model.Matches = frameindex.Matches{}
	s := &frameindex.Scan{Matcher: frameindex.NewMatcher(want, a.model.start), Index: a.index, OnFirst: a.updates.hurry, OnMore: a.updates.wake}
	if want.NeedsFindings() {
		s.Judge = a.found
	}
	a.scan = s
	t := a.timeline
	a.scanning.Start(a.ctx, func(ctx context.Context) { s.Read(ctx, t) })
	return nil
}

// refresh applies what was found in the background.
func (a *app) refresh() {
	if a.timeline == nil {
		return
	}
	ended := a.snapshot.Ended
	found := a.scan.Take() // first, since the index has everything that the scan has found
	a.snapshot = a.index.Take()
	a.rows.Add(a.snapshot.NewRows)
	a.rows.Latest = a.snapshot.Latest
	a.fail(a.model.add(found))
	a.refreshNotes()
	a.refreshHolds()
	a.goToWorst()
	for _, err := range []error{a.snapshot.Err, found.Err} {
		if err != nil {
			a.err = err
		}
	}
	if a.snapshot.Ended && !ended && a.info.Live {
		if info, err := a.timeline.Info(); err == nil {
			a.info = info
		}
	}
}

// goToWorst selects the frame that a tape opens on once it is known, unless the user has
// moved: the worst failure, or else the first turn.
func (a *app) goToWorst() {
	if !a.opening || !a.model.Complete {
		return
	}
	worst := a.model.Failures.Next(1) // of very many frames the conversation is not read yet
	if a.trace != nil {
		if _, ended, _ := a.trace.Progress(); !ended {
			return
		}
		worst = 0
		if list := a.trace.Summary(a.subject.Session).Failures.Worst; len(list) > 0 {
			worst = list[0].Frame.Seq
		}
	}
	a.opening = false
	if !a.model.All.Has(worst) {
		left := nearby
		worst = a.snapshot.Seek(1, 1, func(f *dialect.Frame) bool {
			left--
			return left < 0 || f.Events.Has(dialect.TurnBegan) && a.model.All.Has(f.Seq)
		})
		if left < 0 { // there is no turn nearby
			return
		}
	}
	if !a.model.All.Has(worst) {
		return
	}
	a.jump(worst)
	if a.page != nil && a.place.goesAlong() {
		a.landOn(worst)
		a.page.Await(worst)
	}
}

// timersEvery is the interval at which timers of open requests are redrawn.
const timersEvery = 500 * time.Millisecond

// tick redraws the timers while a tape is being recorded.
func (a *app) tick(ctx context.Context) {
	every := time.NewTicker(timersEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			a.updates.wake()
		}
	}
}

// sinceStart returns the time since the first tape began if the last one is being
// recorded; otherwise 0.
func (a *app) sinceStart() time.Duration {
	if !a.info.Live {
		return 0
	}
	return max(a.Now().Sub(a.info.Start.Time), a.snapshot.Time(a.snapshot.Last))
}

// waits reports whether a request has no response (yet).
func (a *app) waits(seq uint64) bool {
	return a.snapshot.Open.Has(seq)
}

// session returns the session that the user is looking at. For a server's frame, that is
// the session for which the server was started.
func (a *app) session() string {
	if a.subject.Session != "" {
		return a.subject.Session
	}
	var f dialect.Frame
	if !a.snapshot.Frame(a.model.selected, &f) {
		return ""
	}
	return cmp.Or(a.timeline.SessionOf(a.timeline.PartOf(f.Seq)), f.Session)
}
