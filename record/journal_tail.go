package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/journal"
)

// A tail reads the part of a tape that is still in its journal, and dissects it. It writes
// nothing: readers do not seal.
type tail struct {
	journal  journal.Reader
	d        *dissector
	testHook func(payload []byte) // see Store
}

// openTail continues where the sealed blocks end. index is that of the last block; if a
// later one was sealed in the meantime, the tail is nil and the caller must read that
// block first.
func (t *Tape) openTail(index int) (*tail, error) {
	k := &tail{journal: journal.Reader{Files: t.store.journal(t.id), Known: t.known}, testHook: t.store.testHook}
	d, err := t.codec.resume(t.store.tapeFile(t.id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		start, err := t.store.start(t.id, k.journal.Segments())
		if err != nil {
			if t.store.hasFile(t.id) {
				return nil, nil // sealed in between
			}
			return nil, err
		}
		k.d = newDissector(Info{Tape: t.id, Start: start})
	case err != nil:
		return nil, err
	case d.Index > index+1:
		// Unless index is from a damaged key.
		if more, err := t.laterSealed(index); more || err != nil {
			return nil, err
		}
		fallthrough
	default:
		k.d = d
	}
	k.journal.MoveTo(k.d.Position)
	return k, nil
}

// read dissects up to a block of frames. At the end of the journal it returns the frames
// read so far, with io.EOF.
func (k *tail) read() (*block, error) {
	k.d.next()
	err := guarded(func() error {
		for !k.d.full() {
			r, err := k.journal.Next()
			if err != nil {
				return err
			}
			if k.testHook != nil {
				k.testHook(r.Payload)
			}
			if k.d.record(r) {
				k.journal.Advance(r)
			}
		}
		return nil
	})
	return k.taken(err)
}

// flush ends the tape, and the lines that are unfinished at the end of the journal.
func (k *tail) flush() (*block, error) {
	k.d.next()
	return k.taken(guarded(func() error {
		k.d.end(never)
		return nil
	}))
}

// taken returns what was dissected before err.
func (k *tail) taken(err error) (*block, error) {
	if fault := faultIn(err); fault != nil {
		err = fmt.Errorf("tape %s cannot be read on: %w", k.d.Info.Tape, fault)
	}
	return k.d.build.block(blockHead{First: k.d.first}), err
}

// pass skips segments that are missing without having been sealed. It returns io.EOF if
// none is left.
func (k *tail) pass() error {
	if k.journal.SkipMissing() {
		return nil
	}
	return io.EOF
}

// laterSealed reports whether there are blocks after the one with that index.
func (t *Tape) laterSealed(index int) (bool, error) {
	keys, err := t.from.keys()
	if errors.Is(err, ErrNoTape) {
		return false, nil
	}
	return len(keys) > 0 && keys[len(keys)-1].index > index, err
}

// facts returns the facts of the tape and its sessions, including what is in the journal.
func (t *Tape) facts() (Info, []SessionInfo, error) {
	info, list, err := t.from.facts()
	if t.store == nil || err == nil && (info.Complete || !t.store.hasJournal(t.id)) {
		return info, list, err
	}
	if err != nil && !errors.Is(err, ErrNoTape) {
		return info, list, err
	}
	sessions := map[string]SessionInfo{}
	for _, s := range list {
		sessions[s.ID] = s
	}
	keys, err := t.from.keys()
	if err != nil && !errors.Is(err, ErrNoTape) {
		return info, list, err
	}
	index := -1
	if len(keys) > 0 {
		index = keys[len(keys)-1].index
	}
	k, err := t.openTail(index)
	if err != nil {
		return info, list, err
	}
	if k == nil {
		return t.facts()
	}
	defer k.journal.Close()
	live := t.store.isLive(t.id) // check this first: the last writes are read below
	for err == nil {
		_, err = k.read()
		mergeSessions(sessions, k.d.sessionChanges)
		if errors.Is(err, journal.ErrRemoved) {
			more, failed := t.laterSealed(index)
			if more {
				return t.facts()
			}
			if err = failed; err == nil {
				err = k.pass()
			}
		}
	}
	if err != io.EOF {
		return info, list, err
	}
	if !live {
		if _, err := k.flush(); err != nil {
			return info, list, err
		}
		mergeSessions(sessions, k.d.sessionChanges)
	}
	info = k.d.info()
	info.Live, info.Sessions = live, existing(sessions)
	list = slices.SortedFunc(maps.Values(sessions), byFirst)
	return info, list, nil
}

// byFirst orders the sessions of one tape.
func byFirst(a, b SessionInfo) int {
	return cmp.Or(cmp.Compare(a.Runs[0].First, b.Runs[0].First), strings.Compare(a.ID, b.ID))
}

// mergeSessions adds what a block says about sessions.
func mergeSessions(sessions map[string]SessionInfo, changes map[string]*SessionInfo) {
	for id, more := range changes {
		all, ok := sessions[id]
		if !ok {
			all = *more
		} else {
			all.extend(*more)
		}
		sessions[id] = all
	}
}
