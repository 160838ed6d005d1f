package host

import "github.com/acptap/acptap/proxy/wire"

// maxLine is how long a message may be.
const maxLine = 64 << 20

// lines cuts a stream into messages.
type lines struct {
	handle func(line []byte, end wire.LineEnd) // takes a message; line is valid only during the call

	// cut takes a piece of an overlong message. first and last say whether it is the first
	// or the last one.
	cut func(piece []byte, end wire.LineEnd, first, last bool)

	splitter wire.Splitter
	inside   bool // inside an overlong message
}

func (l *lines) feed(b []byte) {
	l.splitter.Limit = maxLine
	l.splitter.Feed(b, l.piece)
}

func (l *lines) flush() { l.splitter.Flush(l.piece) }

func (l *lines) piece(piece []byte, end wire.LineEnd, last bool) {
	if l.inside || !last {
		l.cut(piece, end, !l.inside, last)
		l.inside = !last
		return
	}
	l.handle(piece, end)
	if cap(l.splitter.Pending) > wire.MaxChecked {
		l.splitter.Pending = nil // Feed then starts with an empty one
	}
}
