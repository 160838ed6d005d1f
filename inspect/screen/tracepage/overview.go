package tracepage

import (
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// mostListed is the number of turns up to which an overview lists all of them. If there are
// more, it lists some.
const mostListed = 24

// Overview returns the summary of a session, or of the whole tapes if id is empty, for a
// screen of the given size.
func (r *Reader) Overview(id string, width, height int) []page.Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.overview(id, width, height)
}

func (r *Reader) overview(id string, width, height int) (lines []page.Line) {
	if r.last == 0 {
		return r.nothing("There are no frames on this tape.")
	}
	sum, sessions := r.whole.Summary(), r.history.Trace.Sessions
	if session := r.session(id); session != nil && (id != "" || len(sessions) == 1) {
		sum, sessions = r.summaryOf(session), []*trace.Session{session}
	}
	for _, row := range sum.Overview(width, height, summary.ExchangesOf(sessions, mostListed, r.label)) {
		lines = append(lines, page.Line{Spans: row.Spans, Seq: row.Frame.Seq})
	}
	return lines
}

// summaryOf returns the summary of a session with the servers that it called.
func (r *Reader) summaryOf(session *trace.Session) summary.Summary {
	sum := r.summary(session)
	sum.SetServers(r.ofSession.calls(r.revision.nested, r.source(0).Servers(session)), r.history.Uncalled(session))
	return sum
}

// without says why there is no session to show, and returns the summary of the tapes.
func (r *Reader) without(why string, width int) []page.Line {
	if r.last == 0 {
		return r.nothing(why)
	}
	blank := page.Line{Spans: []termtext.Span{}} // nothing needs to be drawn later
	return append(append(r.nothing(why), blank), r.overview("", width, highScreen)...)
}

// highScreen is the number of rows that an overview may take on a page that also shows
// something else.
const highScreen = 30
