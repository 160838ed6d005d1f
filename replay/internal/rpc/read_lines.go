package rpc

import (
	"io"

	"github.com/acptap/acptap/proxy/wire"
)

// shortened returns the parts of a message that are kept while it is read: of a long one,
// its beginning and its end so far. Many programs write the id after the result.
func shortened(message []byte) []byte {
	if len(message) <= wire.MaxChecked+wire.TailSize {
		return message
	}
	return append(message[:wire.MaxChecked], message[len(message)-wire.TailSize:]...)
}

// ReadLines reads in until it ends and calls put with each line. It shortens long lines
// unless whole is set. It calls heard after each read.
func ReadLines(in io.Reader, whole bool, heard func(), put func(line []byte)) {
	var split wire.Splitter
	var line []byte
	emit := func(piece []byte, _ wire.LineEnd, last bool) {
		line = append(line, piece...)
		if !whole {
			line = shortened(line)
		}
		if last {
			put(line)
			line = nil
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		heard()
		split.Feed(buf[:n], emit)
		if err != nil { // a stream that cannot be read counts as ended
			split.Flush(emit)
			return
		}
	}
}

// Scan is wire.Scan, which also finds an id at the end of a message that is
// longer than wire.MaxChecked, whether it is whole or shortened.
func Scan(message []byte) wire.Envelope {
	e := wire.Scan(message)
	if e.Kind == wire.Oversized && e.ID == nil {
		e.ID, _ = wire.LastID(message[max(0, len(message)-wire.TailSize):])
	}
	return e
}
