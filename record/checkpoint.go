package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"

	"github.com/acptap/acptap/record/journal"
)

// A checkpoint says how far a tape's file extends.
type checkpoint struct {
	index    int   // of the last block
	position int64 // of the journal record after it
	taken    int   // bytes of that record that the block already has
}

// decodeCheckpoint reads a checkpoint.
func decodeCheckpoint(b []byte) (p checkpoint, err error) {
	_, err = new(tags).decode(b, &p)
	if err == nil && (p.position < 0 || p.taken < 0) {
		err = fmt.Errorf("%s: %w", p.what(), ErrDamaged)
	}
	return p, err
}

func (p *checkpoint) what() string  { return "how far the tape is sealed" }
func (p *checkpoint) known() uint64 { return 5 }

func (p *checkpoint) tags(t *tags) {
	index, taken := int64(p.index), int64(p.taken)
	t.int(2, &index)
	t.int(3, &p.position)
	t.int(4, &taken)
	p.index, p.taken = int(index), int(taken)
}

// resume returns a dissector that continues after the last block of a tape's file.
func (c *codec) resume(file tapeFile) (*dissector, error) {
	last, err := readState(file, nil)
	var d *dissector
	if err == nil {
		err = guarded(func() error { d, err = c.restore(last); return err })
	}
	if errors.Is(err, ErrDamaged) {
		if mended, failed := c.salvage(file); failed == nil {
			d, err = mended, nil
		}
	}
	if err != nil {
		return nil, err
	}
	d.next()
	return d, nil
}

// restore returns the dissector as it was at the end of a block.
func (c *codec) restore(s encodedBlock) (*dissector, error) {
	state, err := c.decodeState(s)
	if err != nil {
		return nil, err
	}
	d, err := restoreDissector(state)
	if err == nil && d.Info.Tape != s.head.Tape {
		err = fmt.Errorf("state in block %d of tape %s says that it belongs to tape %q: %w", s.head.Index, s.head.Tape, d.Info.Tape, ErrDamaged)
	}
	return d, err
}

// salvage is resume for a tape whose last state cannot be read, so that the frames after it
// stay readable. The checkpoint says where the block ended. salvage loses the beginnings of
// unfinished lines, and what the tracker has learned since the last readable state: a
// response may not find its request.
func (c *codec) salvage(file tapeFile) (*dissector, error) {
	var info Info
	var end checkpoint
	err := file.view(func(tape, _ *bolt.Bucket) (err error) {
		if _, err = new(tags).decodeInfo(tape.Get(keyInfo), &info); err != nil {
			return err
		}
		if err := file.holds(info.Tape); err != nil {
			return err
		}
		end, err = decodeCheckpoint(tape.Get(keySealed))
		return err
	})
	if err != nil {
		return nil, err
	}
	d := newDissector(info)
	if known, _ := c.lastState(file); known != nil {
		d.tracker = known.tracker
	}
	d.Index, d.Position, d.Taken = end.index, end.position, end.taken
	d.Seq = info.Lines + 1
	for dir := range wire.Directions {
		d.OffsetUnknown[dir] = true
	}
	return d, nil
}

// lastState returns the dissector restored from the last readable state, or nil if there
// is none. latest reports whether that is the state of the last block.
func (c *codec) lastState(file tapeFile) (d *dissector, latest bool) {
	keys, _ := boltBlocks{file}.keys()
	for i, key := range slices.Backward(keys) {
		s, err := readState(file, key.encode())
		if err == nil {
			err = guarded(func() error { d, err = c.restore(s); return err })
		}
		if err == nil {
			return d, i == len(keys)-1
		}
	}
	return nil, false
}

// dissected is what a dissector knows at the end of a block, without the tracker's part. It
// is stored as JSON. Readers ignore unknown members, and never rewrite them since each
// block has its own state. A member that readers must not ignore is in the needs of the
// block's head.
type dissected struct {
	Index         int                          // of the next block
	Seq           uint64                       // of the next frame
	Now           time.Duration                `json:",omitzero"` // time of the current record
	Position      int64                        // of the next journal record
	Taken         int                          // bytes of that record that the block already has
	Offsets       [wire.Directions]int64       // bytes seen in each direction
	OffsetUnknown [wire.Directions]bool        `json:"Adrift,omitzero"` // the previous block was lost
	Origin        [wire.Directions]wire.Origin `json:",omitzero"`       // of the unfinished line
	Pending       [wire.Directions][]byte      // of that line
	Long          [wire.Directions]*longLine
	Streams       *streamSet              `json:",omitempty"` // nil: the tape has none yet
	LongInStreams []*longLine             `json:",omitempty"`
	EventIDs      []byte                  `json:",omitempty"`
	Waiting       dialect.WaitingRequests `json:",omitempty"`
	Info          Info
}

// state returns what is stored with the block that ends now.
func (d *dissector) state() ([]byte, error) {
	s := d.dissected
	s.Info = d.info()
	for dir := range d.split {
		s.Pending[dir] = d.split[dir].Pending
	}
	s.EventIDs = d.events.State()
	tracker, err := d.tracker.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if len(tracker) > maxState/2 {
		// Tens of thousands of requests are open, with ids and names of a kilobyte. Drop
		// them.
		d.tracker = dialect.NewTracker(d.Info.protocol())
		return d.state()
	}
	return json.Marshal(struct {
		dissected
		Tracker []byte
	}{s, tracker})
}

// restoreDissector returns the dissector as it was when state was saved.
func restoreDissector(state []byte) (*dissector, error) {
	if size := len(state) - len(wire.ValueAt(state, "Tracker").Raw()); size > maxPlain && size-len(wire.ValueAt(state, "Streams").Raw()) > maxPlain {
		return nil, fmt.Errorf("state of a block: more than can be open: %w", ErrDamaged)
	}
	var s struct {
		dissected
		Tracker []byte
	}
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, fmt.Errorf("state of a block: %w: %w", ErrDamaged, err)
	}
	if !s.dissected.possible() {
		return nil, fmt.Errorf("state of a block: numbers that cannot be: %w", ErrDamaged)
	}
	d := &dissector{dissected: s.dissected, tracker: dialect.NewTracker(dialect.AnyProtocol)}
	if err := d.tracker.UnmarshalBinary(s.Tracker); err != nil {
		return nil, fmt.Errorf("state of a block: %w: %w", ErrDamaged, err)
	}
	if err := d.events.Restore(d.EventIDs); err != nil {
		return nil, fmt.Errorf("state of a block: %w: %w", ErrDamaged, err)
	}
	d.EventIDs = nil
	for dir := range d.split {
		d.split[dir] = wire.Splitter{Pending: d.Pending[dir], Open: d.Long[dir] != nil}
		d.Pending[dir] = nil
	}
	d.init()
	return d, nil
}

// possible reports whether a dissector can reach that state.
func (d *dissected) possible() bool {
	ok := 0 <= d.Index && d.Index < math.MaxInt32 && 0 < d.Seq && d.Seq < math.MaxInt64 &&
		0 <= d.Position && 0 <= d.Taken && d.Taken <= journal.RecordSize
	for dir := range wire.Directions {
		ok = ok && 0 <= d.Offsets[dir] && len(d.Pending[dir]) <= wire.MaxChecked
		ok = ok && (d.Long[dir] == nil || d.Long[dir].possible(d.Seq))
	}
	for _, long := range d.LongInStreams {
		ok = ok && long != nil && long.Stream != 0 && long.possible(d.Seq)
	}
	return ok
}

// possible reports whether a line can reach that state before the frame with number next.
func (l *longLine) possible(next uint64) bool {
	return 0 <= l.Size && 0 < l.Began && l.Began <= next && len(l.Head) <= headSize && len(l.Tail) <= wire.TailSize && l.Dir < wire.Directions
}
