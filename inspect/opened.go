package inspect

import (
	"context"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/inspect/frameindex"
	"github.com/acptap/acptap/inspect/tracepage"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// An opened is what is looked at.
type opened struct {
	subject Subject
	info    record.Info
	reel    *frameindex.Timeline // for the event loop; nil: no tape is open
	book    frameindex.RowCache
	model   model
	known   frameindex.Snapshot // what the ledger has told
	err     error               // of the last stretch that could not be read
	query   string              // the filter
	left    []string            // filters that were left, the last one last
	origin  Place               // that it was opened from

	readers
}

// The readers of a tape work in the background.
type readers struct {
	ledger *frameindex.Index
	scan   *frameindex.Scan  // that the model is fed by
	story  *tracepage.Reader // nil: no place has asked for it

	reading, scanning, telling, hunting worker

	looked string // how far a hunt is that lasts; empty: there is none
}

// openTape opens a subject, and begins to read it. query is what of it is shown.
func (a *app) openTape(sub Subject, query string) error {
	r, err := frameindex.OpenTimeline(sub.Name, sub.Open)
	if err != nil {
		return err
	}
	info, err := r.Info()
	if err != nil {
		return err
	}
	reading, err := r.Reopen()
	if err != nil {
		return err
	}
	if query, err = queryOf(sub, query); err != nil {
		return err
	}
	a.closeTape()
	a.subject, a.info, a.reel, a.book = sub, info, r, frameindex.NewRowCache(r)
	a.pane.Clear(0)
	a.known, a.err, a.story, a.left, a.origin = frameindex.Snapshot{}, nil, nil, nil, storePlace
	a.model = model{folded: a.model.folded, times: a.model.times, start: info.Start.Time.Local(), label: r.Label, follow: info.Live}
	a.ledger = frameindex.NewIndex(a.feed.poke)
	a.reading.start(a.ctx, func(ctx context.Context) {
		var ticking worker
		if info.Live {
			ticking.start(ctx, a.tick)
		}
		a.ledger.Read(ctx, reading)
		ticking.stop()()
	})
	if err := a.setFilter(query); err != nil {
		a.closeTape()
		return err
	}
	return nil
}

// closeTape ends what reads the tape. The function that it returns waits until
// nothing does any more.
func (a *app) closeTape() (wait func()) {
	a.endHunt()
	var waits []func()
	for _, t := range []*worker{&a.reading, &a.scanning, &a.telling, &a.hunting} {
		waits = append(waits, t.stop())
	}
	a.reel, a.story, a.subject = nil, nil, Subject{}
	return func() {
		for _, wait := range waits {
			wait()
		}
	}
}

// queryOf returns the filter that a subject begins with.
func queryOf(sub Subject, query string) (string, error) {
	if sub.Session == "" {
		_, err := filter.Parse(query)
		return query, err
	}
	return filter.Add(query, "session", sub.Session, false)
}

// setFilter shows the frames that a filter lets through.
func (a *app) setFilter(text string) error {
	want, err := filter.Parse(text)
	if err != nil {
		return err
	}
	r, err := a.reel.Reopen()
	if err != nil {
		return err
	}
	a.scanning.stop()
	a.endHunt()
	a.query = text
	a.model.restart()
	s := &frameindex.Scan{Matcher: frameindex.NewMatcher(want, a.model.start), Index: a.ledger, OnFirst: a.feed.hurry, OnMore: a.feed.poke}
	a.scan = s
	a.scanning.start(a.ctx, func(ctx context.Context) { s.Read(ctx, r) })
	return nil
}

// refresh takes what was found in the background.
func (a *app) refresh() {
	if a.reel == nil {
		return
	}
	ended := a.known.Ended
	found := a.scan.Take() // first: what it has found is in the ledger
	a.known = a.ledger.Take()
	a.book.Add(a.known.NewRows)
	a.book.Latest = a.known.Latest
	a.fail(a.model.take(found))
	for _, err := range []error{a.known.Err, found.Err} {
		if err != nil {
			a.err = err
		}
	}
	if a.known.Ended && !ended && a.info.Live {
		if info, err := a.reel.Info(); err == nil {
			a.info = info
		}
	}
}

// timersEvery is how often the timers of what is open are drawn.
const timersEvery = 500 * time.Millisecond

// tick draws the timers while a tape is recorded.
func (a *app) tick(ctx context.Context) {
	every := time.NewTicker(timersEvery)
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

// sinceStart returns the time since the first tape began, if the last one is being
// recorded, else 0.
func (a *app) sinceStart() time.Duration {
	if !a.info.Live {
		return 0
	}
	return max(a.Now().Sub(a.info.Start.Time), a.known.Time(a.known.Last))
}

// waits reports whether a request has no response (yet).
func (a *app) waits(seq uint64) bool {
	_, found := slices.BinarySearch(a.known.Open, seq)
	return found
}

// session returns the session that the user looks at.
func (a *app) session() string {
	if a.subject.Session != "" {
		return a.subject.Session
	}
	var f dialect.Frame
	a.known.Frame(a.model.selected, &f)
	return f.Session
}
