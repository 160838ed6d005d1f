package wire

import "bytes"

// ReadSSE returns the fields of the event at the end of a text/event-stream's lead, which
// may be cut off. If a field occurs twice the last one counts; data lines are joined.
func ReadSSE(lead []byte) SSE {
	var e SSE
	var data []byte
	eachField(lead[len(byteOrderMark(lead)):], func(name fieldName, value []byte) {
		switch name {
		case eventField:
			e.Event = string(value)
		case idField:
			e.ID = string(value)
		case retryField:
			e.Retry = string(value)
		case dataField:
			data = append(append(data, value...), '\n')
		}
	})
	e.Data = string(bytes.TrimSuffix(data, []byte("\n")))
	return e
}

// A fieldName is a known field of an event.
type fieldName byte

const (
	noField fieldName = iota // a comment, an unknown field, or a field whose value makes it ignored
	dataField
	eventField
	idField
	retryField
)

// field reads a line that is not blank.
func field(line []byte) (fieldName, []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		return dataField, value
	case "event":
		return eventField, value
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			return idField, value
		}
	case "retry":
		if len(value) > 0 && len(bytes.Trim(value, "0123456789")) == 0 {
			return retryField, value
		}
	}
	return noField, value
}

// eachField calls yield for each line of text that is not blank, including an unfinished
// last line.
func eachField(text []byte, yield func(fieldName, []byte)) {
	for len(text) > 0 {
		n := lineBreak(text)
		if n < 0 {
			n = len(text)
		}
		if n > 0 {
			yield(field(text[:n]))
		}
		text = text[min(n+1, len(text)):]
	}
}

// byteOrderMark returns the byte order mark that text begins with, or "".
func byteOrderMark(text []byte) []byte {
	const mark = "\ufeff"
	if bytes.HasPrefix(text, []byte(mark)) {
		return text[:len(mark)]
	}
	return nil
}

// lineBreak returns where the first line of b ends: at a line feed, a carriage return, or
// both. It returns -1 if no line ends.
func lineBreak(b []byte) int {
	const window = 256 // keeps a stream without line feeds from being searched to its end for each line
	for at := 0; at < len(b); at += window {
		w := b[at:min(at+window, len(b))]
		n := bytes.IndexByte(w, '\n')
		if n >= 0 {
			w = w[:n]
		}
		if r := bytes.IndexByte(w, '\r'); r >= 0 {
			return at + r
		}
		if n >= 0 {
			return at + n
		}
	}
	return -1
}
