package wire

import (
	"bytes"
	"strings"
)

// An EventDecoder cuts a text/event-stream (WHATWG HTML, section 9.2) into frames.
// The data of an event of the type "message" is a frame. Other events, and those
// without data, are marks. Comments, and unknown fields, are framing.
//
// Data that stands in one line, with no field that counts behind it, is the bytes of
// the stream, and its lead ends where it begins. Otherwise the lead holds the whole
// event, and the data is derived. So the fields of an event stand in its own lead,
// always. An event that outgrows Limit is given out in parts as it stands in the
// stream, from its first data on, with the names of the fields of further lines.
type EventDecoder struct {
	Pending []byte `json:"p,omitempty"`     // bytes since the last piece
	Began   bool   `json:"began,omitempty"` // there was a piece, so that no byte order mark can follow
	Skip    bool   `json:"skip,omitempty"`  // Pending begins within a line that is passed over
	Open    bool   `json:"open,omitempty"`  // parts of the event were given out already
	Other   bool   `json:"other,omitempty"` // and it is not of the type "message"

	// Limit is how many bytes are kept until an event ends; 0 is MaxChecked.
	Limit int `json:"-"`

	line  int // where the line begins in Pending that has not ended
	seen  int // no line ends between that and here
	event event
	data  []byte // of an event with several lines of it
}

// An event is what is known of one that has not ended, by places in Pending.
type event struct {
	start  int    // after the previous blank line
	data   [2]int // of its first line of data
	lines  int    // of data
	fields bool
	late   bool // a field follows data
	other  bool // not of the type "message"
	id     []byte
}

// Feed is Decoder.Feed.
func (d *EventDecoder) Feed(p []byte, emit func(Piece)) { feed(d, &d.Pending, d.Limit, p, emit) }

// Flush is Decoder.Flush. To the client an event that has not ended is none (section
// 9.2.6: at the end of the file it is discarded), so it becomes a mark.
func (d *EventDecoder) Flush(emit func(Piece)) (rest []byte) {
	d.scan(emit)
	rest = d.Pending
	if d.Open {
		emit(Piece{Bytes: rest[:d.seen], Kind: d.kind(), Last: true})
		rest = rest[d.seen:]
	} else if e := ReadSSE(rest); e != (SSE{}) && !d.Skip {
		e.Cut = true
		emit(d.mark(rest, e))
		rest = nil
	}
	*d = EventDecoder{Limit: d.Limit}
	return rest
}

// scan goes over the lines that have ended.
func (d *EventDecoder) scan(emit func(Piece)) {
	for !d.Open || d.endOfLong(emit) {
		i := lineBreak(d.Pending[d.seen:])
		if i < 0 {
			d.seen = len(d.Pending)
			return
		}
		start, end := d.line, d.seen+i
		d.line, d.seen = end+1, end+1
		switch {
		case start == end && end > 0 && d.Pending[end] == '\n' && d.Pending[end-1] == '\r': // of a CRLF
		case start == 0 && d.Skip:
		case start == 0 && !d.Began:
			d.event.start = len(byteOrderMark(d.Pending))
			d.take(d.event.start, end, emit)
		default:
			d.take(start, end, emit)
		}
	}
}

// take takes the line from start to end.
func (d *EventDecoder) take(start, end int, emit func(Piece)) {
	if start == end {
		d.dispatch(emit)
		return
	}
	e := &d.event
	switch name, value := field(d.Pending[start:end]); name {
	case dataField:
		if e.lines++; e.lines == 1 {
			e.data = [2]int{end - len(value), end}
		}
		return
	case noField:
		return
	case eventField:
		e.other = len(value) > 0 && string(value) != "message"
	case idField:
		e.id = value
	}
	e.fields, e.late = true, e.lines > 0
}

// dispatch handles the blank line after an event.
func (d *EventDecoder) dispatch(emit func(Piece)) {
	e := &d.event
	whole, data := d.Pending[:d.line], d.Pending[e.data[0]:e.data[1]]
	if e.lines > 1 {
		data = d.join()
	}
	switch {
	case e.lines == 0 && !e.fields:
		*e = event{start: d.line}
		if len(whole) > maxFraming {
			emit(framing(whole))
			d.drop(len(whole))
		}
	case e.other || len(bytes.TrimSpace(data)) == 0:
		emit(d.mark(whole, ReadSSE(whole)))
		d.drop(len(whole))
	case e.lines > 1 || e.late:
		emit(Piece{Lead: whole, Bytes: data, Derived: true, Last: true, EventID: e.id})
		d.drop(len(whole))
	default:
		emit(Piece{Lead: d.Pending[:e.data[0]], Bytes: data, Last: true, EventID: e.id})
		d.drop(e.data[1])
	}
}

// mark returns the piece for an event that is no message. Of long data it has the
// beginning: the lead holds all of it.
func (d *EventDecoder) mark(whole []byte, e SSE) Piece {
	if e.Size = len(e.Data); e.Size > maxFraming {
		e.Data = strings.ToValidUTF8(e.Data[:maxFraming], "")
	} else {
		e.Size = 0
	}
	p := markPiece(whole, Marked{SSE: &e})
	if !e.Cut {
		p.EventID = d.event.id
	}
	return p
}

// join returns the data of an event with several lines of it.
func (d *EventDecoder) join() []byte {
	d.data = d.data[:0]
	eachField(d.Pending[d.event.start:d.line], func(name fieldName, value []byte) {
		if name == dataField {
			d.data = append(append(d.data, value...), '\n')
		}
	})
	return d.data[:len(d.data)-1]
}

// drop forgets n bytes that were given out. What is behind them is gone over anew:
// but for the ends of lines, nothing of that was.
func (d *EventDecoder) drop(n int) {
	d.Pending = d.Pending[n:]
	d.Began, d.Skip = true, false
	d.line, d.seen, d.event = 0, 0, event{}
}

// spill gives out what is pending, though the event has not ended.
func (d *EventDecoder) spill(emit func(Piece)) {
	from := 0
	if !d.Open {
		if from = d.firstData(); from < 0 {
			within := d.line < len(d.Pending)
			emit(framing(d.Pending))
			d.drop(len(d.Pending))
			d.Skip = within
			return
		}
		d.Open, d.Other, d.seen = true, d.event.other, from
		d.endOfLong(emit)
	}
	if d.seen == 0 {
		return // a line end that perhaps ends the event
	}
	emit(Piece{Lead: d.Pending[:from], Bytes: d.Pending[from:d.seen], Kind: d.kind(), EventID: d.event.id})
	d.drop(d.seen)
}

// firstData returns where the first data of the event begins, -1 if there is none yet.
func (d *EventDecoder) firstData() int {
	if d.event.lines > 0 {
		return d.event.data[0]
	}
	line := d.Pending[d.line:]
	if d.line == 0 && !d.Began {
		line = line[len(byteOrderMark(line)):]
	}
	name, value := field(line)
	if name != dataField || !bytes.HasPrefix(line, []byte("data:")) || d.line == 0 && d.Skip {
		return -1
	}
	return len(d.Pending) - len(value)
}

// endOfLong looks for the end of an event of which parts are given out. The bytes
// before d.seen are of the event then.
func (d *EventDecoder) endOfLong(emit func(Piece)) (found bool) {
	for {
		i := lineBreak(d.Pending[d.seen:])
		if i < 0 {
			d.seen = len(d.Pending)
			return false
		}
		d.seen += i
		next := d.seen + 1
		if bytes.HasPrefix(d.Pending[d.seen:], []byte("\r\n")) {
			next++
		}
		if next >= len(d.Pending) {
			return false // whether the next line is blank is not known yet
		}
		if c := d.Pending[next]; c == '\r' || c == '\n' {
			emit(Piece{Bytes: d.Pending[:d.seen], Kind: d.kind(), Last: true})
			d.Open = false
			d.drop(d.seen)
			return true
		}
		d.seen = next
	}
}

// kind returns the kind of an event of which parts are given out.
func (d *EventDecoder) kind() Kind {
	if d.Other {
		return Body
	}
	return Invalid
}
