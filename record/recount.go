package record

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/wire"

	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/tapeid"
)

// recounted are the facts of a tape as counted from its blocks.
type recounted struct {
	info     Info
	sessions []SessionInfo
	whole    bool   // all blocks could be read
	sealed   []byte // the checkpoint in the file at that time
}

// recount feeds the frames of all blocks of a tape to a dissector again, which recounts
// the facts of the tape and its sessions. It reads how the tape began, and whether it has
// ended, from the last readable state. It ignores what cannot be read.
func recount(file tapeFile) (recounted, error) {
	var r recounted
	err := file.view(func(tape, _ *bolt.Bucket) error {
		r.sealed = bytes.Clone(tape.Get(keySealed))
		return nil
	})
	if err != nil {
		return r, err
	}
	blocks := boltBlocks{file}
	keys, err := blocks.keys()
	if err == nil && len(keys) == 0 {
		err = fmt.Errorf("%s has no blocks: %w", file, ErrDamaged)
	}
	if err != nil {
		return r, err
	}
	var c codec
	d := newDissector(c.begun(file))
	sessions := map[string]SessionInfo{}
	var buf decodeBuffer
	read := 0
	for _, key := range keys {
		s, err := blocks.read(key, true)
		if err == nil {
			err = guarded(func() error { return d.again(&c, s, &buf) })
		}
		if errors.Is(err, ErrNewer) {
			return r, err
		}
		if err == nil {
			read++
		}
		mergeSessions(sessions, d.sessionChanges)
		d.next()
	}
	if d.Info.Complete {
		d.end(never)
		mergeSessions(sessions, d.sessionChanges)
	}
	if read == 0 {
		return r, fmt.Errorf("%s: none of its blocks can be read: %w", file, ErrDamaged)
	}
	r.whole = read == len(keys)
	r.info = d.info()
	r.info.Sessions = existing(sessions)
	r.sessions = slices.SortedFunc(maps.Values(sessions), byFirst)
	return r, nil
}

// begun returns what is known about a tape apart from its frames.
func (c *codec) begun(file tapeFile) Info {
	d, latest := c.lastState(file)
	if d == nil {
		return Info{Tape: file.tape, Start: Start{Time: tapeid.Time(file.tape)}}
	}
	info := Info{Tape: d.Info.Tape, Start: d.Info.Start, Imported: d.Info.Imported}
	if latest {
		info.Complete, info.Ended = d.Info.Complete, d.Info.Ended
	}
	return info
}

// again handles the frames of a block that was dissected before.
func (d *dissector) again(c *codec, s encodedBlock, buf *decodeBuffer) error {
	b, err := c.decode(s, true, buf)
	if err != nil {
		return err
	}
	for i := range b.entries {
		e := &b.entries[i]
		if e.sub || e.part && e.stored+e.lead == 0 { // belongs to the preceding batch; only skips numbers
			continue
		}
		if e.Seq > d.Seq {
			d.skip(e.Seq)
		}
		d.Now, d.untimed, d.stored = e.At, e.Untimed, &e.Annotation
		if e.Stream != 0 {
			d.streamAgain(e)
			continue
		}
		if e.Kind == wire.Mark {
			d.mark(e.Dir, markKind(wire.ReadMark(e.Frame.Frame)), e.Raw)
			continue
		}
		d.Origin[e.Dir] = e.Origin
		d.piece(wire.Frame{Dir: e.Dir, Origin: e.Origin, End: e.End, Raw: e.Raw}, !e.part)
	}
	return nil
}

// markKind returns the kind of record from which a mark was made.
func markKind(m wire.Marked) journal.Kind {
	switch {
	case m.Gap > 0 || m.Damage > 0:
		return journal.KindGap
	case m.EOF:
		return journal.KindEOF
	case m.Error != "":
		return journal.KindReadError
	case m.Fault != "":
		return journal.KindFault
	case m.Exit != nil, m.Closed != "":
		return journal.KindExit
	case m.Rule != nil, m.Load != nil:
		return journal.KindRule
	}
	return journal.KindSignal
}
