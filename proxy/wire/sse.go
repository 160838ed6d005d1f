package wire

import (
	"bytes"
	"strings"
)

// An EventDecoder cuts a text/event-stream (WHATWG HTML, section 9.2) into frames. The
// data of an event of the type "message" is a frame. Other events, and events without
// data, are marks. Comments and unknown fields are framing.
//
// Data in a single line with no known field after it is passed unchanged, and the lead
// ends where the data begins. Otherwise the lead holds the whole event, and the data is
// derived. So an event's fields are always in its own lead. An event longer than Limit is
// emitted in parts, verbatim, beginning with its first data; field names of later lines
// are included.
type EventDecoder struct {
	Pending []byte `json:"p,omitempty"`     // bytes since the last piece
	Began   bool   `json:"began,omitempty"` // a piece was emitted, so no byte order mark can follow
	Skip    bool   `json:"skip,omitempty"`  // Pending begins inside a line to be skipped
	Open    bool   `json:"open,omitempty"`  // parts of the event were already emitted
	Other   bool   `json:"other,omitempty"` // that event is not of the type "message"

	// Limit is the number of bytes kept until an event ends; 0 is MaxChecked.
	Limit int `json:"-"`

	line  int // start of the unfinished line in Pending
	seen  int // Pending has no line end between line and seen
	event event
	data  []byte // joined data of an event with several lines of data
}

// An event is what is known about an unfinished event, as positions in Pending.
type event struct {
	start  int    // after the previous blank line
	data   [2]int // its first line of data
	lines  int    // lines of data so far
	fields bool
	late   bool // a field follows the data
	other  bool // not of the type "message"
	id     []byte
}

// Feed is Decoder.Feed.
func (d *EventDecoder) Feed(p []byte, emit func(Piece)) { feed(d, &d.Pending, d.Limit, p, emit) }

// Flush is Decoder.Flush. Clients discard an event that the end of the stream cut off
// (section 9.2.6), so it becomes a mark.
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

// scan reads the complete lines.
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
		case start == end && end > 0 && d.Pending[end] == '\n' && d.Pending[end-1] == '\r': // the LF of a CRLF
		case start == 0 && d.Skip:
		case start == 0 && !d.Began:
			d.event.start = len(byteOrderMark(d.Pending))
			d.take(d.event.start, end, emit)
		default:
			d.take(start, end, emit)
		}
	}
}

// take handles the line from start to end.
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

// mark returns the piece for an event that is not a message. It shortens long data,
// because the lead holds it all.
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

// join returns the data of an event with several lines of data.
func (d *EventDecoder) join() []byte {
	d.data = d.data[:0]
	eachField(d.Pending[d.event.start:d.line], func(name fieldName, value []byte) {
		if name == dataField {
			d.data = append(append(d.data, value...), '\n')
		}
	})
	return d.data[:len(d.data)-1]
}

// drop removes n emitted bytes from Pending. The rest is scanned again; so far only its
// line ends were looked for.
func (d *EventDecoder) drop(n int) {
	d.Pending = d.Pending[n:]
	d.Began, d.Skip = true, false
	d.line, d.seen, d.event = 0, 0, event{}
}

// spill emits what is pending before the event has ended.
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
		return // only a line end, which may end the event
	}
	emit(Piece{Lead: d.Pending[:from], Bytes: d.Pending[from:d.seen], Kind: d.kind(), EventID: d.event.id})
	d.drop(d.seen)
}

// firstData returns where the event's first data begins, or -1 if there is none yet.
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

// endOfLong looks for the end of an event whose first parts were emitted. All bytes before
// d.seen then belong to the event.
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
			return false // the next line may be blank: not yet known
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

// kind returns the kind of an event that is emitted in parts.
func (d *EventDecoder) kind() Kind {
	if d.Other {
		return Body
	}
	return Invalid
}
