package record

import (
	"io"

	"github.com/acptap/acptap/proxy/wire"
)

// WriteStream writes the bytes of one direction of a stream as its sender sent them:
// the body of an HTTP message, or a WebSocket with its framing. It holds no more than a
// block of them at a time.
func (t *Tape) WriteStream(w io.Writer, stream uint64, dir wire.Direction) error {
	joiner := wire.Joiner{}
	var joined []byte
	for b, err := range t.blocksFrom(1, true) {
		if err != nil {
			return err
		}
		for i := range b.entries {
			e := &b.entries[i]
			if e.Stream != stream || e.sub {
				continue
			}
			if h := wire.ReadMark(e.Frame.Frame).HTTP; h != nil {
				joiner.Socket = joiner.Socket || h.Status == 101 // Switching Protocols
				continue
			}
			if e.Dir != dir || !e.Origin.Sent() {
				continue
			}
			p := wire.Piece{Lead: e.Lead, Bytes: e.Raw, Derived: e.Derived || e.Kind == wire.Mark}
			if joined = joiner.Append(joined[:0], p); len(joined) == 0 {
				continue
			}
			if _, err := w.Write(joined); err != nil {
				return err
			}
		}
	}
	return nil
}
