package journal

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// A Kind says what a journal record holds.
type Kind uint8

// The kinds. A reader skips unknown kinds by their length; one that readers must not skip
// is in the needs of the segment. The first four hold bytes, with the wire.Origin of the
// same number; the payload of the others is a wire.Marked as JSON.
const (
	KindWire Kind = iota
	KindWithheld
	KindInjected
	KindRewritten
	KindGap       // bytes that could not be stored
	KindEOF       // the stream of that direction has ended
	KindSignal    // passed on to the agent
	KindExit      // the end of the tape
	KindReadError // reading the stream of that direction failed
	KindFault     // a part of acptap has failed
	KindStream    // the head of a request or a response in the record's slot, or the end of a direction there; needs disk.NeedsStreams
	KindRule      // what changes the following frames, or what a load has left out
)

// IsBytes reports whether the payload is bytes of the traffic.
func (k Kind) IsBytes() bool { return k <= KindRewritten }

// A Record is one record of a journal.
type Record struct {
	Dir     wire.Direction
	Kind    Kind
	At      time.Duration
	Slot    uint16 // stream of the bytes, which needs disk.NeedsStreams; 0: the connection's own bytes
	Offset  uint32 // low 32 bits of the payload's offset in the stream of its direction
	Payload []byte // valid until the next record is read
}

// appendRecord appends the record to b.
func appendRecord(b []byte, r Record) []byte {
	var h [recordHead]byte
	le := binary.LittleEndian
	le.PutUint32(h[0:], recordMagic)
	le.PutUint32(h[4:], uint32(len(r.Payload)))
	h[8], h[9] = byte(r.Dir), byte(r.Kind)
	le.PutUint16(h[10:], r.Slot)
	le.PutUint64(h[12:], uint64(r.At))
	le.PutUint32(h[24:], checksum(r.Payload))
	le.PutUint32(h[28:], r.Offset)
	le.PutUint32(h[20:], headChecksum(h[:]))
	return append(append(b, h[:]...), r.Payload...)
}

func headChecksum(h []byte) uint32 {
	return crc32.Update(checksum(h[:20]), castagnoli, h[24:recordHead])
}

// parseHead reads a record's head. It returns false if b does not begin with a whole one.
func parseHead(b []byte) (r Record, size int, sum uint32, ok bool) {
	le := binary.LittleEndian
	if len(b) < recordHead || le.Uint32(b) != recordMagic || le.Uint32(b[20:]) != headChecksum(b[:recordHead]) {
		return r, 0, 0, false
	}
	r = Record{Dir: wire.Direction(b[8]), Kind: Kind(b[9]), Slot: le.Uint16(b[10:]), At: time.Duration(le.Uint64(b[12:])), Offset: le.Uint32(b[28:])}
	size = int(min(le.Uint32(b[4:]), SegmentSize+1))
	return r, size, le.Uint32(b[24:]), size <= SegmentSize && r.Dir < wire.Directions
}
