package inspect

import (
	"fmt"
	"strconv"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// A rowForm says how rows are written.
type rowForm struct {
	width   int
	digits  int // of the largest number
	label   func(seq uint64) string
	late    func(seq uint64) time.Duration // when the frame's tape began; nil: at the start
	latency func(*dialect.Frame) (time.Duration, bool)
	times   timeForm
	start   time.Time
	before  time.Duration // time of the row before
	waits   bool          // it is a request without a response
	now     time.Duration // if its tape is being recorded; 0: that has ended
	marked  bool
}

// spans returns a row as a line:
//
//	▪ 12    0.345  → request  session/prompt        Fix the tests     2.3 s
func (r *row) spans(form rowForm) []termtext.Span {
	f := &r.frame
	number := fmt.Sprintf("%*s ", form.digits, form.label(f.Seq))
	if r.err != nil {
		return []termtext.Span{termtext.Dim.Span(" " + number), termtext.Red.Span(termtext.Piece(r.err.Error()))}
	}
	flag := " "
	if form.marked {
		flag = "▪"
	}
	sign, way := arrow(f)
	look := look(f)
	if r.bad {
		look = termtext.Red
	}
	line := []termtext.Span{
		termtext.Yellow.Span(flag), termtext.Dim.Span(number + form.time(f) + " "),
		termtext.Magenta.Span(originSigns[min(int(f.Origin), len(originSigns)-1)]), way.Span(sign + " "),
	}
	if form.width >= 72 {
		line = append(line, termtext.Dim.Span(termtext.Pad(kindNames[min(int(f.Kind), len(kindNames)-1)], 10)))
	}
	columns := min(max(form.width/4, 12), 28)
	times := ""
	if r.chunks > 1 {
		times = " ×" + strconv.Itoa(r.chunks)
	}
	called := termtext.Cut(termtext.Piece(name(f)), columns-termtext.Width(times)) + times
	line = append(line, look.Span(termtext.Pad(called, columns)+"  "))

	behind := form.behind(r)
	room := form.width
	for _, s := range append(line, behind...) {
		room -= termtext.Width(s.Text)
	}
	if room > 0 {
		line = append(line, look.Span(termtext.Pad(termtext.Cut(r.summary, room), room)))
	}
	return append(line, behind...)
}

// time returns a frame's time in the form that was asked for.
func (form *rowForm) time(f *dialect.Frame) string {
	if f.Untimed {
		return fmt.Sprintf("%*s", len("    0.000"), termtext.UnknownTime)
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
	if form.late != nil {
		at -= form.late(f.Seq)
	}
	return fmt.Sprintf("%9.3f", at.Seconds())
}

// behind returns what stands at the end of a row: how long it took, what is
// missing, how large it is.
func (form *rowForm) behind(r *row) []termtext.Span {
	var list []termtext.Span
	latency, answered := form.latency(&r.frame)
	switch {
	case form.waits && form.now > 0 && !r.frame.Untimed:
		list = append(list, termtext.Yellow.Span("  waits "+termtext.Duration(form.now-r.frame.At)))
	case form.waits:
		list = append(list, termtext.Yellow.Span("  no answer"))
	case answered:
		list = append(list, termtext.Dim.Span("  "+termtext.Duration(latency)))
	}
	if r.frame.Size >= largeFrame {
		list = append(list, termtext.Dim.Span("  "+termtext.ByteSize(r.frame.Size)))
	}
	return list
}

// counts says where the user is, such as `3 of 1,200`.
func counts(before, all int) string {
	if all == 0 {
		return "0 of 0"
	}
	return termtext.Grouped(int64(before+1)) + " of " + termtext.Grouped(int64(all))
}
