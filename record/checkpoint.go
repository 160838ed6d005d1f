package record

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/internal/guard"
)

// A checkpoint says how far a tape's file goes.
type checkpoint struct {
	index    int   // of the last block
	position int64 // of the journal record behind it
	taken    int   // bytes of that record that are in the block already
}

func (p *checkpoint) encode(old []byte) []byte { return encodeTags(p, old) }

// decodeCheckpoint reads how far a tape is sealed, of this version or an earlier one,
// which wrote the numbers as text.
func decodeCheckpoint(b []byte) (p checkpoint, err error) {
	if len(b) > 0 && '0' <= b[0] && b[0] <= '9' {
		_, err = fmt.Sscanf(string(b), "%d %d %d", &p.index, &p.position, &p.taken)
	} else if _, err = decodeTags(b, &p); errors.Is(err, ErrNewer) {
		return p, err
	}
	if err != nil || p.position < 0 || p.taken < 0 {
		return p, fmt.Errorf("%s: %.40q: %w", p.what(), b, ErrDamaged)
	}
	return p, nil
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

// resume returns a dissector that goes on behind the last block of a tape's file.
func (c *codec) resume(file tapeFile) (*dissector, error) {
	last, err := readState(file, nil)
	var d *dissector
	if err == nil {
		err = guard.Run(func() error {
			d, err = c.restore(last)
			return err
		})
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
		err = fmt.Errorf("state in block %d of tape %s says that it is of tape %q: %w", s.head.Index, s.head.Tape, d.Info.Tape, ErrDamaged)
	}
	return d, err
}

// salvage is resume where the last block's state cannot be read, so that the
// frames behind it can. How far the block went stands beside the blocks too.
// Lost are the beginnings of lines that had not ended, and, of what both sides
// have said, all since the last state that can be read: a response may not find
// its request.
func (c *codec) salvage(file tapeFile) (*dissector, error) {
	var info Info
	var end checkpoint
	var keys [][]byte
	err := file.View(func(tx *bolt.Tx) error {
		tape, blocks := tx.Bucket(bucketTape), tx.Bucket(bucketBlocks)
		if tape == nil || blocks == nil {
			return fmt.Errorf("%s is no tape: %w", file, ErrDamaged)
		}
		var err error
		if _, err = decodeInfo(tape.Get(keyInfo), &info); err != nil {
			return err
		}
		if err := file.holds(info.Tape); err != nil {
			return err
		}
		if end, err = decodeCheckpoint(tape.Get(keySealed)); err != nil {
			return err
		}
		return blocks.ForEachBucket(func(key []byte) error {
			keys = append(keys, bytes.Clone(key))
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	d := newDissector(info)
	for _, key := range slices.Backward(keys) {
		if s, err := readState(file, key); err == nil {
			var known *dissector
			err := guard.Run(func() error {
				known, err = c.restore(s)
				return err
			})
			if err == nil {
				d.tracker = known.tracker
				break
			}
		}
	}
	d.Index, d.Position, d.Taken = end.index, end.position, end.taken
	d.Seq = info.Lines + 1
	for dir := range wire.Directions {
		d.OffsetUnknown[dir] = true
	}
	return d, nil
}
