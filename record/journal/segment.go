package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
)

// A journal is a sequence of files, its segments. A segment has a header and then records:
//
//	header   magic 8 · length of the JSON 4 · CRC32C of the JSON 4 · JSON · zeros to a multiple of 4 KiB
//	record   magic 4 · payload length 4 · direction 1 · kind 1 · slot 2 · ns since the start 8 ·
//	         CRC32C of these 20 bytes and the last 4 · CRC32C of the payload 4 · low 32 bits of the stream offset 4 · payload
//
// Numbers are little-endian. The needs of the header say what a reader must know; where a
// new need arises, a new segment begins. Segments are neither truncated nor rewritten, and
// are ordered by their position: segment n begins at n·SegmentSize.
//
// A stream has a slot from the head of its request until both of its directions have ended;
// then another stream may get the slot. The marks of a stream hold its number, which is
// never reused.

// Limits. Exceeding a limit degrades recording; it never fails silently.
const (
	RecordSize  = 256 << 10 // payload of a record; more goes into the next
	SegmentSize = 1 << 20   // the rest at the end of a segment stays unused

	MinFree    = 256 << 20 // bytes that a backlog must leave free on the disk
	maxBacklog = 4 << 30   // bytes in the journal if nothing can be sealed
)

const (
	segmentMagic = "acptapJ\x01"
	recordMagic  = 0x9d7461b5 // no byte of it is ASCII, so text never looks like a record
	pageSize     = 4 << 10
	recordHead   = 32
)

// A segmentHead is the header of a segment.
type segmentHead struct {
	Version  int                    `json:"version"`
	Needs    disk.Needs             `json:"needs,omitempty"`
	Tape     string                 `json:"tape"`
	Position int64                  `json:"position"`
	Before   int64                  `json:"before"`  // where the records of the previous segment end; the rest is left over from one that did not fit on the disk
	Offsets  [wire.Directions]int64 `json:"offsets"` // stream offset of each direction where the segment begins
	Wall     time.Time              `json:"wall"`
	At       time.Duration          `json:"at"` // ns since the start
	Start    Start                  `json:"start"`
}

// A Start is what is known about a tape when it begins.
type Start struct {
	Time    time.Time `json:"time"`
	Command []string  `json:"command"`
	Cwd     string    `json:"cwd"`
	Name    string    `json:"name,omitempty"`     // the user's name for the agent
	Version string    `json:"acptap,omitempty"`   // of acptap
	Proto   string    `json:"protocol,omitempty"` // acp or mcp, if the user said which
	PID     int       `json:"pid,omitempty"`      // of the proxy

	Parent    Parent `json:"parent,omitzero"`
	Transport string `json:"transport,omitempty"` // empty: stdio; http or ws
	Upstream  string `json:"upstream,omitempty"`  // URL of the remote agent, without credentials and query
}

// A Parent is the tape of the agent that started what is on this one.
type Parent struct {
	Tape   string `json:"tape"`
	Link   string `json:"link,omitempty"`   // also in the entry that told the agent to start it
	Server string `json:"server,omitempty"` // the agent's name for it

	// Claimed means that only the file of an imported tape says so: the tape is not
	// nested.
	Claimed bool `json:"claimed,omitempty"`
}

// encode returns the header, whose size is a multiple of pageSize.
func (h segmentHead) encode() ([]byte, error) {
	text, err := json.Marshal(h)
	if err == nil && len(text) > SegmentSize/4 {
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

// cut truncates texts that would fill the segment.
func (s *Start) cut() {
	const most = SegmentSize / 64
	n := 0
	for i, arg := range s.Command {
		if n += len(arg) + 8; n > most {
			s.Command = append(slices.Clone(s.Command[:i]), "…")
			break
		}
	}
	for _, text := range []*string{&s.Cwd, &s.Name, &s.Version, &s.Proto, &s.Parent.Tape, &s.Parent.Link, &s.Parent.Server, &s.Transport, &s.Upstream} {
		*text = wire.Clip(*text, most/4)
	}
}

// decodeSegmentHead reads the header that b begins with and returns its length.
func decodeSegmentHead(b []byte) (h segmentHead, size int, err error) {
	if len(b) < 16 || !bytes.HasPrefix(b, []byte(segmentMagic)) {
		return h, 0, fmt.Errorf("no header of a journal: %w", disk.ErrDamaged)
	}
	n := int(min(binary.LittleEndian.Uint32(b[8:]), SegmentSize))
	if n > len(b)-16 || checksum(b[16:16+n]) != binary.LittleEndian.Uint32(b[12:]) {
		return h, 0, fmt.Errorf("header of a journal: %w", disk.ErrDamaged)
	}
	text := b[16 : 16+n]
	if err := disk.CheckNeeds("the journal", text); err != nil {
		return h, 0, err
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return h, 0, fmt.Errorf("header of a journal: %w: %w", disk.ErrDamaged, err)
	}
	if h.Version > disk.Format {
		return h, 0, fmt.Errorf("journal of version %d: %w", h.Version, disk.ErrNewer)
	}
	return h, (16 + n + pageSize - 1) / pageSize * pageSize, nil
}
