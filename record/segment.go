package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A journal is a chain of files, its segments. A segment has a header and then
// records:
//
//	header   magic 8 · length of the JSON 4 · CRC32C of the JSON 4 · JSON · zeros to a multiple of 4 KiB
//	record   magic 4 · payload length 4 · direction 1 · kind 1 · flags 2 · ns since the start 8 ·
//	         CRC32C of these 20 bytes and the last 4 · CRC32C of the payload 4 · low 32 bits of the stream offset 4 · payload
//
// Numbers are little-endian. Segments are neither truncated nor rewritten, and
// stand in the chain by their position: segment n begins at n·segmentSize.

const (
	segmentMagic = "acptapJ\x01"
	recordMagic  = 0x9d7461b5 // no byte of it is ASCII, so text never looks like a record
	pageSize     = 4 << 10
	recordHead   = 32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// A recordKind says what a record of the journal holds.
type recordKind uint8

// The kinds. A reader skips kinds that it does not know by their length. The
// first four are bytes, with the wire.Origin of the same number; the payload of
// the others is a wire.Marked as JSON.
const (
	recWire recordKind = iota
	recWithheld
	recInjected
	recRewritten
	recGap    // bytes that could not be stored
	recEOF    // the stream of that direction has ended
	recSignal // passed on to the agent
	recExit   // the end of the tape
	recError  // the stream of that direction cannot be read on
	recFault  // a part of acptap has failed
)

func (k recordKind) isBytes() bool { return k <= recRewritten }

// A journalRecord is one record as read back.
type journalRecord struct {
	dir     wire.Direction
	kind    recordKind
	at      time.Duration
	offset  uint32 // low 32 bits of where the payload stands in its direction's stream
	payload []byte // valid until the next record is read
}

// appendRecord appends the record to b.
func appendRecord(b []byte, r journalRecord) []byte {
	var h [recordHead]byte
	le := binary.LittleEndian
	le.PutUint32(h[0:], recordMagic)
	le.PutUint32(h[4:], uint32(len(r.payload)))
	h[8], h[9] = byte(r.dir), byte(r.kind)
	le.PutUint64(h[12:], uint64(r.at))
	le.PutUint32(h[24:], checksum(r.payload))
	le.PutUint32(h[28:], r.offset)
	le.PutUint32(h[20:], headChecksum(h[:]))
	return append(append(b, h[:]...), r.payload...)
}

func headChecksum(h []byte) uint32 {
	return crc32.Update(checksum(h[:20]), castagnoli, h[24:recordHead])
}

// parseHead reads a record's head. It returns false where b does not begin with
// one that is whole.
func parseHead(b []byte) (r journalRecord, size int, sum uint32, ok bool) {
	le := binary.LittleEndian
	if len(b) < recordHead || le.Uint32(b) != recordMagic || le.Uint32(b[20:]) != headChecksum(b[:recordHead]) {
		return r, 0, 0, false
	}
	r = journalRecord{dir: wire.Direction(b[8]), kind: recordKind(b[9]), at: time.Duration(le.Uint64(b[12:])), offset: le.Uint32(b[28:])}
	size = int(min(le.Uint32(b[4:]), segmentSize+1))
	return r, size, le.Uint32(b[24:]), size <= segmentSize && r.dir < wire.Directions
}

// A segmentHead is what the header of a segment says.
type segmentHead struct {
	Version  int                    `json:"version"`
	Tape     string                 `json:"tape"`
	Position int64                  `json:"position"`
	Before   int64                  `json:"before"`  // where the records of the segment before end; what is behind is left of one that did not fit on the disk
	Offsets  [wire.Directions]int64 `json:"offsets"` // stream offset of each direction where the segment begins
	Wall     time.Time              `json:"wall"`
	At       time.Duration          `json:"at"` // ns since the start
	Start    Start                  `json:"start"`
}

// A Start is what is known of a tape when it begins.
type Start struct {
	Time    time.Time `json:"time"`
	Command []string  `json:"command"`
	Cwd     string    `json:"cwd"`
	Name    string    `json:"name,omitempty"`     // what the user calls the agent
	Version string    `json:"acptap,omitempty"`   // of acptap
	Proto   string    `json:"protocol,omitempty"` // acp or mcp, if the user said which
	PID     int       `json:"pid,omitempty"`      // of the proxy
}

// encode returns the header, a multiple of pageSize long.
func (h segmentHead) encode() ([]byte, error) {
	text, err := json.Marshal(h)
	if err == nil && len(text) > segmentSize/4 {
		h.Start.cut()
		text, err = json.Marshal(h)
	}
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, (len(text)/pageSize+1)*pageSize)
	b = append(b, segmentMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	b = binary.LittleEndian.AppendUint32(b, checksum(text))
	b = append(b, text...)
	return append(b, make([]byte, (pageSize-len(b)%pageSize)%pageSize)...), nil
}

// cut keeps the beginnings of what would fill the segment.
func (s *Start) cut() {
	const most = segmentSize / 64
	n := 0
	for i, arg := range s.Command {
		if n += len(arg) + 8; n > most {
			s.Command = append(slices.Clone(s.Command[:i]), "…")
			break
		}
	}
	for _, text := range []*string{&s.Cwd, &s.Name, &s.Version, &s.Proto} {
		if len(*text) > most/4 {
			*text = strings.ToValidUTF8((*text)[:most/4], "") + "…"
		}
	}
}

// decodeSegmentHead reads the header that b begins with and returns its length.
func decodeSegmentHead(b []byte) (h segmentHead, size int, err error) {
	if len(b) < 16 || !bytes.HasPrefix(b, []byte(segmentMagic)) {
		return h, 0, fmt.Errorf("no header of a journal: %w", ErrDamaged)
	}
	n := int(min(binary.LittleEndian.Uint32(b[8:]), segmentSize))
	if n > len(b)-16 || checksum(b[16:16+n]) != binary.LittleEndian.Uint32(b[12:]) {
		return h, 0, fmt.Errorf("header of a journal: %w", ErrDamaged)
	}
	if err := json.Unmarshal(b[16:16+n], &h); err != nil {
		return h, 0, fmt.Errorf("header of a journal: %w: %w", ErrDamaged, err)
	}
	if h.Version > Format {
		return h, 0, fmt.Errorf("journal of version %d: %w", h.Version, ErrNewer)
	}
	return h, (16 + n + pageSize - 1) / pageSize * pageSize, nil
}
