package screen

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/screen/findingpage"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// A rowForm says how to write a row.
type rowForm struct {
	width   int
	digits  int // width of the largest number
	label   func(seq uint64) string
	began   func(seq uint64) time.Duration // when the frame's tape began; nil: at the start
	latency func(*dialect.Frame) (time.Duration, bool)
	times   timeForm
	start   time.Time
	before  time.Duration // time of the previous row
	failure dialect.Failure
	silence time.Duration    // as in frametext.Row
	waits   bool             // it is a request without a response
	now     time.Duration    // the current time if its tape is being recorded; otherwise 0
	held    string           // how long it has been held, or behind which frame; empty: not held
	sign    string           // sign for its notes; empty: none
	server  bool             // it is on a server's tape, shown among others
	broken  conform.Strength // strength of its worst finding; None: there is none
	above   *frameindex.Row  // the row above; nil: none is on the screen
}

// rowSpans returns a row as a line.
func rowSpans(r *frameindex.Row, form rowForm) []termtext.Span {
	f := &r.Frame
	number := fmt.Sprintf("%*s", form.digits, form.label(f.Seq))
	if r.Err != nil {
		return []termtext.Span{termtext.Dim.Span(" " + number + " "), termtext.Failure.Span(termtext.Piece(r.Err.Error()))}
	}
	mark := termtext.Bold.Span(cmp.Or(form.sign, " "))
	columns := form.nameColumns()
	times := ""
	if r.Chunks > 1 {
		times = " ×" + strconv.Itoa(r.Chunks)
	}
	line := frametext.Row{
		Frame: f, Failure: form.failure, Silence: form.silence, Server: form.server, Rule: r.Rule, Number: number + " " + form.time(f), Kind: form.kinds(),
		Name: termtext.Cut(termtext.Piece(frametext.Name(f)), columns-termtext.Width(times)) + times, Columns: columns, Summary: r.Summary,
	}
	if form.broken != conform.None {
		line.Mark = findingpage.StyleOf(form.broken).Span(report.Sign(form.broken))
	}
	if u := form.above; u != nil && u.Err == nil {
		line.Again, line.Above = frametext.Name(&u.Frame) == frametext.Name(f), u.Summary
	}
	latency, answered := form.latency(f)
	switch {
	case form.held != "":
		line.Waits = form.held
	case form.waits && form.now > 0 && !f.Untimed:
		line.Waits = "waits " + termtext.Duration(form.now-f.At)
	case form.waits:
		line.Waits = "no answer"
	case answered:
		line.Latency = termtext.Duration(latency)
	}
	return append([]termtext.Span{mark}, line.Spans(form.width-1)...)
}

func (form *rowForm) nameColumns() int { return min(max(form.width/4, 12), 28) }

// kinds reports whether there is room for the column of kinds.
func (form *rowForm) kinds() bool { return form.width >= 72 }

// headings returns the headings of the columns.
func (form *rowForm) headings() []termtext.Span {
	kind := ""
	if form.kinds() {
		kind = "kind       "
	}
	left := fmt.Sprintf("%*s %*s     %s%s", form.digits+1, "frame", form.timeColumns(), timeHeadings[form.times], kind, termtext.Pad("method", form.nameColumns()+1))
	const last = "took"
	if room := form.width - termtext.Width(left) - len(last); room > len("content ") {
		left += termtext.Pad("content", room) + last
	}
	return termtext.Bold.Line(left)
}

// timeHeadings are the headings of the column of times.
var timeHeadings = [timeForms]string{sinceStart: "seconds", sinceBefore: "since row", wallClock: "time"}

// timeColumns returns the width of the column of times.
func (form *rowForm) timeColumns() int {
	if form.times == wallClock && !form.start.IsZero() {
		return len("15:04:05.000")
	}
	return len("    0.000")
}

// time returns a frame's time in the chosen form.
func (form *rowForm) time(f *dialect.Frame) string {
	if f.Untimed {
		return fmt.Sprintf("%*s", form.timeColumns(), termtext.UnknownTime)
	}
	at := f.At
	switch form.times {
	case sinceBefore:
		return fmt.Sprintf("%+9.3f", (at - form.before).Seconds())
	case wallClock:
		if !form.start.IsZero() {
			return form.start.Add(at).Format("15:04:05.000")
		}
	}
	if form.began != nil {
		at -= form.began(f.Seq)
	}
	return fmt.Sprintf("%9.3f", at.Seconds())
}

// counts returns a position, such as `3 of 1,200`.
func counts(before, all int) string {
	if all == 0 {
		return "0 of 0"
	}
	return termtext.Grouped(int64(before+1)) + " of " + termtext.Grouped(int64(all))
}
