package tracepage

import (
	"fmt"
	"slices"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// summary returns the summary of a session. If it is the only one, that is the summary of the
// tapes, so its figures agree with the store and with acptap summary.
func (r *Reader) summary(session *trace.Session) summary.Summary {
	if len(r.history.Trace.Sessions) == 1 {
		return r.whole.Summary()
	}
	return r.sums.Summary(session)
}

// head returns the lines above a session's content: its summary, as far as the tapes have
// been read.
func (r *Reader) head(session *trace.Session, width int) []page.Line {
	sum := r.summaryOf(session)
	which := ""
	if all := r.history.Trace.Sessions; len(all) > 1 {
		which = fmt.Sprintf("session %d of %d", slices.Index(all, session)+1, len(all))
	}
	lines := headLines(&sum, width, which)
	id := termtext.Dim.Line(termtext.Pad("session", summary.LabelColumns) + termtext.Piece(session.ID))
	return append(lines, page.Line{Spans: termtext.CutSpans(id, max(width, 1))})
}

// headLines returns the lines of a summary. The first one stays visible; on a high screen all
// do.
func headLines(sum *summary.Summary, width int, which string) (lines []page.Line) {
	for i, spans := range sum.Head(width, which) {
		l := page.Line{Spans: spans, Heading: page.StaysIfRoom}
		if i == 0 {
			l.Heading = page.Stays
		}
		lines = append(lines, l)
	}
	return lines
}
