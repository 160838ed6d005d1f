package record

import (
	"io"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/portable"
)

// endTorn ends the frames of streams that a record interrupts or leaves unfinished. It
// returns false if the block is full first; the caller then calls it again.
func (d *dissector) endTorn(r journal.Positioned) bool {
	missing := r.Offset - uint32(d.Offsets[r.Dir])
	switch {
	case d.Streams == nil:
		return true
	case r.Kind == journal.KindExit:
		return d.Streams.Flush(d.full)
	case r.Skipped > 0, r.Kind == journal.KindGap, 0 < missing && missing < 1<<31:
		return d.Streams.Gap(r.Dir, d.full)
	}
	return true
}

// streamMark handles the mark that begins or ends a stream.
func (d *dissector) streamMark(slot uint16, dir wire.Direction, text []byte) {
	f := wire.Frame{Dir: dir, Kind: wire.Mark, End: wire.None, Raw: text}
	switch m := wire.ReadMark(f); {
	case m.HTTP != nil:
		f.Stream, f.Origin = d.Streams.Head(slot, dir, m.HTTP), m.HTTP.Origin
		d.Info.Streams = max(d.Info.Streams, f.Stream)
		d.Info.Guessed = d.Info.Guessed || m.HTTP.Guessed
	case m.End != nil:
		f.Stream, f.Lead = d.Streams.End(slot, dir, m.End.Stream)
	}
	d.piece(f, true)
}

// ofStream handles a frame of a stream, or a part of one.
func (d *dissector) ofStream(p streamPiece) {
	f := wire.Frame{Dir: p.Dir, Origin: p.Origin, Kind: p.Kind, Raw: p.Bytes, Stream: p.Stream, Lead: p.Lead, Derived: p.Derived}
	if p.Kind == wire.Mark {
		f.End = wire.None
	}
	if p.EventID != nil && p.Kind != wire.Mark && p.Origin.Sent() {
		f.Redelivered = d.events.Again(p.EventID, p.Bytes)
	}
	d.piece(f, p.Last)
}

// streamAgain handles an entry of a stream from a block that was dissected before.
func (d *dissector) streamAgain(e *entry) {
	if d.Streams == nil {
		d.Streams = &streamSet{Emit: d.ofStream}
	}
	f := e.Frame.Frame
	switch f.Kind {
	case wire.Mark:
		if h := wire.ReadMark(f).HTTP; h != nil {
			d.Info.Streams = max(d.Info.Streams, f.Stream)
			d.Info.Guessed = d.Info.Guessed || h.Guessed
		}
	case wire.Body:
	default:
		f.Kind = wire.Invalid
	}
	d.piece(f, !e.part)
}

// takeStream handles a line of a stream: the bytes of a frame, or a mark.
func (l *loader) takeStream(p portable.Line) error {
	d := l.d
	if d.Streams == nil {
		d.Streams = &streamSet{Emit: d.ofStream}
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

// streamFrame handles a frame of a stream and reads its bytes. It splits a long one into
// parts, as happens with one from a journal.
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
