// Package tracepage lays out what happened on tapes: the conversation of a session, its
// turns over time, the capabilities of both sides, and statistics. A Reader reads the
// tapes in the background and follows the one being recorded. Any goroutine may ask for
// lines at any time. The package draws nothing.
package tracepage

import (
	"context"
	"sync"
	"time"

	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A Reader gathers what happened on a timeline's tapes.
type Reader struct {
	label    func(seq uint64) string // returns a frame's label
	tapes    int                     // number of the agent's tapes
	changes  func()                  // called whenever there is more
	timeline *frameindex.Timeline

	mu        sync.Mutex // guards the fields below
	history   reading.History
	counted   counted   // durations of calls
	ofSession counted   // for the session whose conversation was last shown
	start     time.Time // when the first tape began
	methods   stats.Frames
	rules     stats.Rules
	stats     stats.Collector
	ends      []time.Duration // time of each tape's last frame
	used      []stats.Uses    // by tape
	sums      summary.Sessions
	whole     summary.Tally // of all tapes
	shownUpTo uint64        // the lines built last cover the frames up to this one
	broken    bool          // part of the tapes cannot be read
	revision
}

// A revision identifies how far a reader has got.
type revision struct {
	last   uint64 // last frame read
	ended  bool   // nothing will follow
	nested int    // number of servers' frames read
}

// NewReader returns an empty Reader for an agent's tapes. label returns a frame's number
// as users know it. onChange is called whenever there is more.
func NewReader(label func(seq uint64) string, tapes int, onChange func()) *Reader {
	return &Reader{label: label, tapes: tapes, changes: onChange, sums: summary.Sessions{Label: label}, whole: summary.Tally{Label: label}}
}

// Begin implements frameindex.Sink. All times are relative to the start of the timeline's
// first tape.
func (r *Reader) Begin(_ context.Context, t *frameindex.Timeline) {
	r.timeline = t
	r.start = t.Part(0).Info.Start.Time
	r.history.Start = r.start
}

// Take handles the tapes' next event.
func (r *Reader) Take(e *frameindex.Event) {
	r.mu.Lock()
	r.take(e)
	r.mu.Unlock()
	r.changes()
}

// End marks the end of reading. ended reports whether all tapes have ended.
func (r *Reader) End(ended bool) {
	r.mu.Lock()
	if ended {
		r.end()
	}
	r.mu.Unlock()
	r.changes()
}

func (r *Reader) take(e *frameindex.Event) {
	switch isServer := e.Part != nil && e.Part.IsServer(); {
	case e.Err != nil:
		if r.broken = true; !isServer {
			r.sums.Broken()
			r.whole.Broken()
		}
	case isServer:
		r.history.Take(e.Event)
		r.revision.nested++
	case e.Kind == reading.Begins:
		r.history.Take(e.Event)
		r.begin(e.Part.Info)
	case e.Kind == reading.Read:
		f := r.timeline.Placed(e)
		r.history.Take(&reading.Event{Kind: e.Kind, Part: e.Part, Frame: f})
		r.frame(&f)
	case e.Kind == reading.Ends && e.Place == r.tapes-1:
		r.end()
	}
}

// begin begins one of the agent's tapes.
func (r *Reader) begin(info record.Info) {
	r.sums.End(&r.history.Trace) // sums of the previous tape
	r.sums.Begin(info)
	r.whole.End(&r.history.Trace)
	r.whole.Begin(info)
	r.stats.Take(&r.history.Trace)
	r.stats.Begin(info)
	r.used = append(r.used, stats.Uses{})
	r.ends = append(r.ends, 0)
}

// frame counts one of the agent's frames, which the history has already processed.
func (r *Reader) frame(f *dialect.Frame) {
	if f.Does(dialect.Carries) { // from a server that the client hosts
		r.revision.nested++
	}
	r.sums.Take(f, &r.history.Trace)
	r.whole.Take(f, &r.history.Trace)
	r.stats.Take(&r.history.Trace)
	r.ends[len(r.ends)-1] = f.At
	r.methods.Take(f)
	r.rules.Take(f)
	r.used[len(r.used)-1].Take(f)
	r.last = f.Seq
}

// end ends the agent's last tape.
func (r *Reader) end() {
	if r.ended {
		return
	}
	r.ended, r.history.Trace.Live = true, false
	r.history.End()
	r.sums.End(&r.history.Trace)
	r.whole.End(&r.history.Trace)
	r.stats.Take(&r.history.Trace)
}

// Revision identifies how far the reader has got. Equal revisions have equal lines.
func (r *Reader) Revision() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.revision
}

// UpTo returns the last frame covered by the lines built last. The reader may have read
// more since.
func (r *Reader) UpTo() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shownUpTo
}

// Progress returns the last frame read, whether nothing will follow, and whether part of
// the tapes cannot be read.
func (r *Reader) Progress() (last uint64, ended, broken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.ended, r.broken
}

// Summary returns the summary of a session, or of the whole tapes if id is empty, as far as
// they have been read. Frames in it have their numbers on the timeline.
func (r *Reader) Summary(id string) summary.Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	if session := r.session(id); session != nil && id != "" {
		sum, _ := r.summaryOf(session)
		return sum
	}
	return r.whole.Summary()
}

// summaryOf returns the summary of a session, and how long it took: of the only one, that of the
// tapes, as acptap summary tells it.
func (r *Reader) summaryOf(session *trace.Session) (sum summary.Summary, length string) {
	whole := r.whole.Summary()
	if whole.Sessions <= 1 {
		return whole, whole.Length()
	}
	sum = r.sums.Summary(session)
	if length = sum.Length(); length != "" && length != whole.Length() {
		length = "this session " + length + " of " + whole.Length()
	}
	return sum, length
}

// summary returns the head of a conversation: a summary of the session, as far as the
// tapes have been read.
func (r *Reader) summary(session *trace.Session, width int) []page.Line {
	var lines []page.Line
	sum, length := r.summaryOf(session)
	sum.SetServers(r.ofSession.calls(r.revision.nested, r.source(0).Servers(session)), r.history.Uncalled(session))
	title := termtext.Dotted(length, termtext.Piece(session.Title), termtext.Piece(session.ID))
	head := []termtext.Span{tapetext.OutcomeSpan(sum.Outcome()), termtext.Bold.Span(" · " + title)}
	lines = append(lines, page.Line{Spans: termtext.CutSpans(head, max(width, 1))})
	for _, spans := range sum.Head(width) {
		lines = append(lines, page.Line{Spans: spans})
	}
	return lines
}

// nothing returns the line that says why there is nothing to show.
func (r *Reader) nothing(why string) []page.Line {
	if !r.ended && r.last == 0 {
		why = "reading…"
	}
	return []page.Line{{Spans: termtext.Dim.Line(why)}}
}

// session returns the session with the given ID or, failing that, the first one with a
// conversation; nil if there is none.
func (r *Reader) session(id string) *trace.Session {
	var first *trace.Session
	for _, session := range r.history.Trace.Sessions {
		if session.ID == id {
			return session
		}
		if first == nil && len(session.Conversation.Entities) > 0 {
			first = session
		}
	}
	return first
}
