package record

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/journal"
)

// A dissector turns the records of a journal, or the lines of a portable file, into entries
// of blocks: it cuts the streams into frames, numbers them, and asks dialect what they
// mean. Its state at the end of each block is stored with the block. From there the proxy's
// own flusher, readers of the unsealed part, and whoever seals the journal of a killed
// proxy continue, and get the same frames with the same numbers.
type dissector struct {
	dissected
	build          builder
	first          uint64 // number of the next frame when the block began
	tracker        *dialect.Tracker
	untimed        bool                    // the time of the current frame is unknown
	stored         *dialect.Annotation     // of the current frame, if it was dissected before; otherwise nil
	sessionChanges map[string]*SessionInfo // since the block began, by id
	emit           [wire.Directions]func(piece []byte, end wire.LineEnd, last bool)
	split          [wire.Directions]wire.Splitter
	events         eventIDs // the latest ones sent by the server
}

// headSize is the number of bytes kept of a frame longer than wire.MaxChecked to read its
// fields.
const headSize = 64 << 10

// A longLine is a line that is already partly in blocks.
type longLine struct {
	Size  int64
	Began uint64 // number of the next frame when it began
	Head  []byte // its first headSize bytes
	Tail  []byte // its last wire.TailSize bytes so far

	Stream uint64         `json:",omitempty"` // of a frame on a stream, with Dir and Again, which says that it was sent again
	Dir    wire.Direction `json:",omitempty"`
	Again  bool           `json:",omitempty"`
}

// end adds the next piece, and returns the end of the line so far.
func (l *longLine) end(piece []byte) []byte {
	if len(piece) >= wire.TailSize {
		l.Tail = l.Tail[:0]
	}
	l.Tail = append(l.Tail, piece[max(0, len(piece)-wire.TailSize):]...)
	l.Tail = l.Tail[max(0, len(l.Tail)-wire.TailSize):]
	return l.Tail
}

// sliceSize is the number of bytes dissected between checks whether the block is full. It
// bounds the number of frames in a block: all of them may be empty lines.
const sliceSize = 16 << 10

// maxEntries ends a block of very small frames. mostEntries is the maximum that a block
// may end up with: a slice is not split, and may hold as many empty lines as bytes, or
// end batches with one entry for every three bytes.
const (
	maxEntries  = 16 << 10
	mostEntries = maxEntries + 2*sliceSize
)

func newDissector(info Info) *dissector {
	d := &dissector{dissected: dissected{Seq: 1, Info: info}}
	d.init()
	return d
}

func (d *dissector) init() {
	if d.tracker == nil {
		d.tracker = dialect.NewTracker(d.Info.protocol())
	}
	d.first = d.Seq
	d.sessionChanges = map[string]*SessionInfo{}
	for dir := range wire.Directions {
		d.emit[dir] = func(piece []byte, end wire.LineEnd, last bool) {
			d.piece(wire.Frame{Dir: dir, Origin: d.Origin[dir], End: end, Raw: piece}, last)
		}
	}
	if d.Streams != nil {
		d.Streams.Emit = d.ofStream
	}
}

// info returns what is known of the tape so far.
func (d *dissector) info() Info {
	i := d.Info
	// A tracker that started in the middle of a tape, after its state was lost, knows less
	// than what was stored before.
	if c := d.tracker.Connection(); c.Dialect != dialect.Unknown || i.Connection.Dialect == dialect.Unknown {
		i.Connection = c
	}
	return i
}

// full reports whether the block should be sealed.
func (d *dissector) full() bool {
	return len(d.build.raw) > blockSize-sliceSize || len(d.build.entries) >= maxEntries
}

// record handles a journal record. It returns false if the block is full before the
// record is used up; the caller then calls it again with the same record.
func (d *dissector) record(r journal.Positioned) bool {
	d.Now = r.At
	if r.Dir == wire.AgentStderr {
		r.Slot = 0 // streams have no such direction
	}
	if d.Taken == 0 && !d.endTorn(r) {
		return false
	}
	if d.OffsetUnknown[r.Dir] && r.Kind != journal.KindGap {
		d.Offsets[r.Dir], d.OffsetUnknown[r.Dir] = int64(r.Offset)+int64(d.Taken), false
	}
	if d.Taken == 0 && r.Skipped > 0 {
		d.gap(r.Dir, wire.Marked{Damage: r.Skipped})
	}
	if d.Taken == 0 && r.Kind != journal.KindGap {
		// Offsets already include gap marks. Any further difference was in a damaged
		// record.
		if missing := r.Offset - uint32(d.Offsets[r.Dir]); 0 < missing && missing < 1<<31 {
			d.gap(r.Dir, wire.Marked{Gap: int64(missing)})
			d.Offsets[r.Dir] += int64(missing)
		}
	}
	switch {
	case r.Slot != 0 && d.Streams == nil:
		d.Streams = &streamSet{Emit: d.ofStream}
	case r.Slot == 0 && r.Kind.IsBytes() && d.Origin[r.Dir] != wire.Origin(r.Kind):
		d.split[r.Dir].Flush(d.emit[r.Dir])
		d.Origin[r.Dir] = wire.Origin(r.Kind)
	}
	switch {
	case r.Kind.IsBytes():
		for d.Taken < len(r.Payload) {
			slice := r.Payload[d.Taken:min(d.Taken+sliceSize, len(r.Payload))]
			if r.Slot != 0 {
				d.Streams.Feed(r.Slot, r.Dir, wire.Origin(r.Kind), slice)
			} else {
				d.split[r.Dir].Feed(slice, d.emit[r.Dir])
			}
			d.Taken += len(slice)
			d.Offsets[r.Dir] += int64(len(slice))
			if d.full() && d.Taken < len(r.Payload) {
				return false
			}
		}
	case r.Slot != 0 && r.Kind == journal.KindStream:
		d.streamMark(r.Slot, r.Dir, r.Payload)
	default:
		d.mark(r.Dir, r.Kind, r.Payload)
	}
	d.Taken, d.Position = 0, r.Next
	return true
}

// mark handles a record that has no bytes of the traffic.
func (d *dissector) mark(dir wire.Direction, kind journal.Kind, text []byte) {
	f := wire.Frame{Kind: wire.Mark, Raw: text}
	m := wire.ReadMark(f)
	switch kind {
	case journal.KindGap:
		d.gap(dir, m)
		d.Offsets[dir] += m.Gap
	case journal.KindEOF, journal.KindReadError:
		d.split[dir].Flush(d.emit[dir])
		d.addMark(dir, text)
	case journal.KindRule:
		switch l := m.Load; {
		case l == nil:
			d.Info.Rules++
		case l.Session != "" && len(l.Session) <= wire.MaxLoaded:
			d.sessionOf(l.Session, d.Seq).Runs[0].Missing = uint64(max(0, l.Missing))
		}
		fallthrough
	case journal.KindSignal, journal.KindFault:
		d.addMark(dir, text)
	case journal.KindExit:
		d.flush()
		d.Info.Exit, d.Info.Closed, d.Info.Ended = m.Exit, m.Closed, d.wall(d.Now)
		d.addMark(dir, text)
		d.unanswered()
	}
}

// skip skips numbers, so that the next frame has number seq.
func (d *dissector) skip(seq uint64) {
	if n := seq - d.Seq; n > 0 {
		d.Seq = seq
		d.build.add(entry{Frame: dialect.Frame{Frame: wire.Frame{Seq: seq, At: d.Now}}, part: true, back: n}, nil)
	}
}

// gap marks missing bytes. The line that they interrupt ends there.
func (d *dissector) gap(dir wire.Direction, m wire.Marked) {
	d.split[dir].Flush(d.emit[dir])
	d.Info.Lost += m.Gap
	d.addMark(dir, m.JSON())
}

// end finishes the tape. If full returns true it stops early and returns false; the next
// call continues.
func (d *dissector) end(full func() bool) bool {
	if d.Streams != nil && !d.Streams.Flush(full) {
		return false
	}
	d.flush()
	d.unanswered()
	return true
}

// never is a stop function that never stops.
func never() bool { return false }

// unanswered counts the requests that will get no answer, and records their outcome.
func (d *dissector) unanswered() {
	d.Info.Failures += uint64(len(d.Waiting))
	ended := d.Info.Exit != nil || d.Info.Closed != ""
	var died dialect.Outcome
	if d.Info.Worst.How == dialect.Died {
		died = d.Info.Worst
	}
	for _, r := range d.Waiting {
		left := r.Left(ended, died)
		d.Info.Worst = d.Info.Worst.Or(left)
		if r.Session != "" {
			run := &d.sessionOf(r.Session, r.Seq).Runs[0]
			run.Failures++
			run.Worst = run.Worst.Or(left)
		}
	}
	d.Waiting = nil
}

// flush ends unfinished lines at the end of the tape.
func (d *dissector) flush() {
	for dir := range d.split {
		d.split[dir].Flush(d.emit[dir])
	}
}

// piece handles a line, or a piece of one longer than wire.MaxChecked, and what is known
// about it.
func (d *dissector) piece(f wire.Frame, last bool) {
	long := d.long(&f)
	piece := f.Raw
	f.Size = int64(len(piece))
	switch {
	case !last && long == nil:
		long = &longLine{Began: d.Seq, Head: bytes.Clone(piece[:min(len(piece), headSize)]), Stream: f.Stream, Again: f.Redelivered}
		d.keep(f.Dir, long)
		fallthrough
	case !last:
		long.Size += f.Size
		long.end(piece)
		f.Seq, f.At, f.Kind, f.End, f.Redelivered = d.Seq, d.Now, wire.Invalid, wire.LF, false
		d.build.add(entry{Frame: dialect.Frame{Frame: f}, part: true}, piece)
	case long == nil:
		d.add(f, nil, piece)
	default:
		d.forget(f.Dir, long)
		f.Size, f.Raw, f.Redelivered = long.Size+f.Size, long.Head, long.Again
		if f.Kind == wire.Invalid {
			f.Kind = wire.Oversized
		}
		d.add(f, long, piece)
	}
}

// long returns the line that f continues, or nil if f begins one.
func (d *dissector) long(f *wire.Frame) *longLine {
	if f.Stream == 0 {
		return d.Long[f.Dir]
	}
	for _, long := range d.LongInStreams {
		if long.Stream == f.Stream && long.Dir == f.Dir {
			return long
		}
	}
	return nil
}

// keep remembers a line that is already partly in blocks.
func (d *dissector) keep(dir wire.Direction, long *longLine) {
	if long.Stream == 0 {
		d.Long[dir] = long
		return
	}
	long.Dir = dir
	d.LongInStreams = append(d.LongInStreams, long)
}

// forget drops such a line when it ends.
func (d *dissector) forget(dir wire.Direction, long *longLine) {
	if long.Stream == 0 {
		d.Long[dir] = nil
		return
	}
	d.LongInStreams = slices.DeleteFunc(d.LongInStreams, func(l *longLine) bool { return l == long })
}

// addMark handles the text of a mark.
func (d *dissector) addMark(dir wire.Direction, text []byte) {
	d.add(wire.Frame{Dir: dir, Kind: wire.Mark, End: wire.None, Size: int64(len(text)), Raw: text}, nil, text)
}

// add numbers a frame, determines what it means, and puts it into the block. stored has those
// of its bytes that go into this block.
func (d *dissector) add(f wire.Frame, long *longLine, stored []byte) {
	f.Seq, f.At, f.Untimed = d.Seq, d.Now, d.untimed
	d.Seq++
	if f.Origin != wire.Wire {
		d.Info.Changed++
	}
	e := entry{}
	if long != nil {
		e.back = f.Seq - long.Began
	}
	var env wire.Envelope
	switch {
	case f.Kind == wire.Mark, f.Kind == wire.Body:
	case f.Dir == wire.AgentStderr:
		f.Kind = wire.Stderr
	case long != nil:
		if env = wire.ScanPrefix(f.Raw); env.Kind == wire.Invalid {
			f.Kind = wire.Invalid
		} else if env.ID == nil {
			env.ID, _ = wire.LastID(long.end(stored))
		}
	default:
		env = wire.Scan(f.Raw)
		f.Kind = env.Kind
	}
	if f.Redelivered { // it has already taken effect
		d.Info.line(&f)
		note := dialect.Annotation{Method: strings.ToValidUTF8(string(env.Method), "\ufffd")}
		d.build.add(entry{Frame: dialect.Frame{Frame: f, Annotation: note}, back: e.back}, stored)
		return
	}
	note, facts := d.tracker.Observe(&f, env)
	f.Failed = dialect.Failed(env, &note)
	if f.Kind == wire.Batch {
		wire.Entries(f.Raw, func(_ int, entry []byte) bool {
			f.Failed = f.Failed || dialect.Failed(wire.Scan(entry), &note)
			return !f.Failed
		})
	}
	if d.stored != nil {
		const noted = dialect.FailureEvents | dialect.SlowEvents | dialect.AskedNobody // decided while the tape was recorded
		note.Events = note.Events&^noted | d.stored.Events&noted
	}
	d.tally(&f, &note, &facts)
	e.Frame = dialect.Frame{Frame: f, Annotation: note}
	d.Waiting.Observe(&e.Frame)
	d.build.add(e, stored)
	for _, a := range note.Entries {
		d.build.add(entry{Frame: dialect.Frame{Frame: wire.Frame{Seq: f.Seq, At: f.At, Dir: f.Dir, Origin: f.Origin, Kind: f.Kind}, Annotation: a}, sub: true}, nil)
	}
}

// wall returns the time of day of a moment on the tape, or the zero time if the tape's
// start is unknown.
func (d *dissector) wall(at time.Duration) time.Time {
	if d.Info.Start.Time.IsZero() {
		return time.Time{}
	}
	return d.Info.Start.Time.Add(at)
}

// head returns the head of the current block.
func (d *dissector) head() blockHead {
	h := blockHead{Version: Format, Tape: d.Info.Tape, Index: d.Index, First: d.first}
	if d.Streams != nil {
		h.Needs = disk.Needs{disk.NeedsStreams}
	}
	return h
}

// next begins the next block.
func (d *dissector) next() {
	d.Index++
	d.first = d.Seq
	d.build.reset()
	clear(d.sessionChanges)
}
