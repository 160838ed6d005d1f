package record

import (
	"io"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/internal/streams"
	"github.com/acptap/acptap/record/portable"
)

// takeStream takes a line of a stream: the bytes of a frame, or a mark.
func (l *loader) takeStream(p portable.Line) error {
	d := l.d
	if d.Streams == nil {
		d.Streams = &streams.Set{Emit: d.streamPiece}
	}
	d.Info.Streams = max(d.Info.Streams, p.Framing.Stream)
	f := wire.Frame{
		Dir: p.Dir, Origin: p.Origin, Stream: p.Framing.Stream,
		Lead: p.Framing.Lead, Derived: p.Framing.Derived, Redelivered: p.Framing.Redelivered,
	}
	if p.Framing.Body {
		f.Kind = wire.Body
	}
	if p.Mark != nil {
		f.Kind, f.End, f.Raw = wire.Mark, wire.None, p.Mark.JSON()
		f.Derived = p.Mark.HTTP == nil && p.Mark.End == nil
		if h := p.Mark.HTTP; h != nil {
			f.Origin = h.Origin
			d.Info.Guessed = d.Info.Guessed || h.Guessed
		}
		d.piece(f, true)
		return l.flushIfFull()
	}
	return l.streamFrame(f, p.Body)
}

// streamFrame takes a frame of a stream, whose bytes it reads. A long one goes on in
// parts, as it would on its way out of a journal.
func (l *loader) streamFrame(f wire.Frame, r io.Reader) error {
	var parts wire.BodyDecoder
	given := false
	emit := func(p wire.Piece) {
		f.Raw, given = p.Bytes, true
		l.d.piece(f, p.Last)
		f.Lead = nil
	}
	for {
		n, err := io.ReadFull(r, l.slice[:])
		parts.Feed(l.slice[:n], emit)
		if err := l.flushIfFull(); err != nil {
			return err
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if parts.Flush(emit); !given {
		emit(wire.Piece{Last: true}) // a message without bytes
	}
	return l.flushIfFull()
}
