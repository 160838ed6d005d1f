package screen

import (
	"context"

	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
)

// The briefs are the summaries shown next to the list of tapes. They are read one at a time,
// when the cursor is on a tape.
type briefs struct {
	known   bounded.Map[briefKey, summary.Summary]
	asked   briefKey // the one being read, or read last
	reading worker
}

// A briefKey identifies a summary. The summary of a tape that is being recorded is read again
// after the tape has grown.
type briefKey struct {
	tape  string
	lines uint64
}

const (
	maxBriefs    = 64      // number of summaries kept
	maxLiveBrief = 1 << 14 // a summary is read again only up to this number of frames
)

// brief returns the summary of a tape if it is known. Otherwise it starts reading it.
func (a *app) brief(info record.Info) (summary.Summary, bool) {
	b := &a.tapes.briefs
	key := briefKey{info.Tape, info.Lines}
	if info.Lines > maxLiveBrief {
		key.lines = 0
	}
	s, ok := b.known.Get(key)
	if ok || b.asked == key {
		return s, ok
	}
	if s, ok = b.known.Get(b.asked); b.asked.tape != key.tape { // meanwhile show its previous one
		s, ok = summary.Summary{}, false
	}
	b.asked = key
	b.reading.Start(a.ctx, func(ctx context.Context) {
		tape, err := a.Store.Open(info.Tape)
		if err != nil {
			return // the list reports it
		}
		r := reading.New([]reading.Part{{Tape: tape, Info: info, Store: a.Store}})
		r.AddServers(false) // on error, summarize the tape without them
		read := summary.Of
		if info.Lines > maxTraced {
			read = summary.Unjudged
		}
		s, _ := read(ctx, r)
		a.updates.post(func() {
			if ctx.Err() == nil {
				b.known.Limit = maxBriefs
				b.known.Set(key, s)
			}
		})
	})
	return s, ok
}

// drawBrief draws the summary of the tape under the cursor.
func (a *app) drawBrief(title, c canvas) {
	e, ok := a.tapes.entry(a.page.Current())
	if !ok || e.broken != nil {
		title.across(0, termtext.Dim, "")
		return
	}
	what := termtext.Dotted(e.tape.Tape, termtext.Piece(tapetext.Place(e.tape)))
	s, ok := a.brief(e.tape)
	if !ok {
		title.across(0, termtext.Dim, what)
		c.text(1, 0, termtext.Dim, "reading…")
		return
	}
	a.drawText(title, c, e.key(), what, s.Details(max(c.w-1, 1)))
}
