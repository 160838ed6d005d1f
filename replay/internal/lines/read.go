// Package lines reads and writes the lines of the other side of a replay. It never
// waits for a side that writes before it reads, and it can keep only the part of a
// long line that is compared.
package lines

import (
	"io"

	"github.com/acptap/acptap/proxy/wire"
)

// Of a message that is longer than wire.MaxChecked the beginning is looked at,
// and the end: many write the id behind the result.

// shortened returns what is kept of a message while it comes, once it is longer
// than wire.MaxChecked: its beginning, and its end so far.
func shortened(message []byte) []byte {
	if len(message) <= wire.MaxChecked+wire.TailSize {
		return message
	}
	return append(message[:wire.MaxChecked], message[len(message)-wire.TailSize:]...)
}

// Read calls put with each line of in until that ends, shortened unless
// whole is set, and heard after each read.
func Read(in io.Reader, whole bool, heard func(), put func(line []byte)) {
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
		if err != nil { // a stream that cannot be read has ended
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
