package screen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A searchPage is the place that shows the results of searching all tapes.
type searchPage struct {
	query string
	want  filter.Filter
	from  Place                // the place from which the user started it
	of    *frameindex.Timeline // the timeline open there
	worker
	*results
}

// results holds a search's results so far. Only the event loop uses them.
type results struct {
	hits  []listedHit
	err   error // for the last part that could not be read
	part  int64 // percentage of the tapes searched
	state searchState
}

// A listedHit is a hit in the list.
type listedHit struct {
	tape    record.Info
	row     frameindex.Row
	latency time.Duration // as of a Hit
}

type searchState uint8

const (
	searchRuns searchState = iota
	searchEnded
	searchCancelled
	searchFull // there may be more hits
)

// maxHits limits the frames listed.
const maxHits = 10_000

// askSearchAll asks for a query with which to search all tapes.
func (a *app) askSearchAll() {
	if a.Store == nil {
		a.fail(errNoStore)
		return
	}
	a.askQuery("search all tapes: ", a.search.query, a.searchAll)
}

// searchAll starts a search and shows what it finds.
func (a *app) searchAll(query string) error {
	want, err := filter.Parse(query)
	if err != nil {
		return err
	}
	if want.IsZero() {
		return errors.New("type what to search for")
	}
	s := a.search
	s.query, s.want, s.results = query, want, &results{}
	if a.place != searchPlace {
		s.from, s.of = a.place, a.timeline
	}
	found := s.results // an earlier search may still post to its own results
	s.Start(a.ctx, func(ctx context.Context) {
		found.run(ctx, frameindex.Search{Store: a.Store, Filter: want, NewestFirst: true}, a.updates.post)
	})
	a.pages[searchPlace] = &page.Page{Lines: s.lines, State: s.revision, Late: s.spans, Enter: a.openFound, Narrows: true}
	a.visit(searchPlace)
	return nil
}

// run collects the hits. post makes the event loop call a function.
func (s *results) run(ctx context.Context, of frameindex.Search, post func(func())) {
	last := int64(0)
	of.Progress = func(done, total int64) {
		if part := min(100*done/max(total, 1), 100); part != last {
			last = part
			post(func() { s.part = part })
		}
	}
	state, hits := searchEnded, 0
	for hit, err := range of.Hits(ctx) {
		if ctx.Err() != nil {
			state = searchCancelled
			break
		}
		if err != nil {
			post(func() { s.err = err })
			continue
		}
		listed := listedHit{hit.Tape, frameindex.NewRow(hit.Frame, hit.Tool), hit.Latency}
		post(func() { s.hits = append(s.hits, listed) })
		if hits++; hits == maxHits {
			state = searchFull
			break
		}
	}
	post(func() {
		if s.state == searchRuns {
			s.state = state
		}
	})
}

// revision returns everything that the lines depend on.
func (s *results) revision() any { return [4]any{s, len(s.hits), fmt.Sprint(s.err), s.state} }

// cancelled marks a running search as cancelled, and reports whether one was running. A
// few more hits may follow until the search notices.
func (s *results) cancelled() bool {
	runs := s.state == searchRuns
	if runs {
		s.state = searchCancelled
	}
	return runs
}

// progress describes the search's progress.
func (s *results) progress() string {
	switch s.state {
	case searchRuns:
		return fmt.Sprintf(" · searched %d %%, Esc ends it", s.part)
	case searchCancelled:
		return fmt.Sprintf(" · ended at %d %%", s.part)
	case searchFull:
		return " · there may be more"
	}
	return ""
}

// lines lists the hits by tape.
func (s *results) lines(int) []page.Line {
	var lines []page.Line
	if s.err != nil {
		lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Failure.Span(termtext.Piece(s.err.Error()))}, Item: -1})
	}
	if len(s.hits) == 0 {
		text := "searching…"
		if s.state != searchRuns {
			text = "Nothing was found. s changes what is searched for."
		}
		return append(lines, page.Line{Spans: []termtext.Span{termtext.Dim.Span(text)}, Item: -1})
	}
	last := ""
	for i := range s.hits {
		hit := &s.hits[i]
		if hit.tape.Tape != last {
			last = hit.tape.Tape
			lines = append(lines, page.Line{Spans: hit.heading(), Item: i})
		}
		lines = append(lines, page.Line{Item: i, Level: 1})
	}
	return lines
}

func (f *listedHit) heading() []termtext.Span {
	when := f.tape.Start.Time.Local().Format("2006-01-02 15:04")
	return []termtext.Span{termtext.Bold.Span(f.tape.Tape), termtext.Dim.Span("  " + termtext.Spaced(when, termtext.Piece(tapetext.AgentName(f.tape))))}
}

// spans returns a hit's line.
func (s *results) spans(item, width int) []termtext.Span {
	f := &s.hits[item]
	return rowSpans(&f.row, rowForm{
		width: width, digits: 8, label: func(seq uint64) string { return termtext.Grouped(int64(seq)) },
		latency: func(*dialect.Frame) (time.Duration, bool) { return f.latency, f.latency > 0 },
	})
}

// reference returns a hit's reference, TAPE:FRAME.
func (s *results) reference(item int) string {
	hit := &s.hits[item]
	return fmt.Sprintf("%s:%d", hit.tape.Tape, hit.row.Frame.Seq)
}

// openFound opens a hit's tape at its frame.
func (a *app) openFound(l page.Line) {
	if l.Item < 0 {
		return
	}
	hit := a.search.hits[l.Item]
	if err := a.openTape(TapesOf(a.Store, "", hit.tape.Tape), ""); err != nil {
		a.fail(err)
		return
	}
	a.lookFor(a.search.want)
	a.openedFrom = searchPlace
	a.await(tapeFrame{hit.tape.Tape, hit.row.Frame.Seq})
	a.visit(framesPlace)
}

// leaveSearch cancels the search. If the search has ended, it returns to the place from
// which the user started it, or to the store if another tape has been opened since.
func (a *app) leaveSearch() {
	if a.search.cancelled() {
		a.search.Stop()
		return
	}
	if a.search.from.ofTape() && a.search.of != a.timeline {
		a.visit(storePlace)
		return
	}
	a.visit(a.search.from)
}
