package record

import (
	"errors"
	"fmt"
	"io"

	"github.com/acptap/acptap/record/journal"
)

// errNoMore says that a tape has no more for now, but is still being recorded.
var errNoMore = errors.New("no more yet")

// A blockReader reads a tape block by block: first the sealed blocks, then the journal. It
// returns nothing twice, even if part of the journal is sealed meanwhile. It never waits.
type blockReader struct {
	tape      *Tape
	from      uint64 // the first block must contain this frame
	withBytes bool

	keys   []blockKey    // sealed blocks still to be read
	listed bool          // keys were listed, and there were no others
	done   int           // index of the last block that was read
	seen   int           // entries after that block that were already read from the journal
	buf    *decodeBuffer // buffer into which blocks are decoded
	tail   *tail         // nil: not open
	live   bool          // whether the tape was live when the tail was last read
	failed error         // pending error of the tail's last read
	over   bool          // only failed remains to be returned
}

func newBlockReader(t *Tape, from uint64, withBytes bool) *blockReader {
	return &blockReader{tape: t, from: from, withBytes: withBytes, done: -1, buf: new(decodeBuffer)}
}

// close closes the open file. The reader cannot be used afterwards.
func (r *blockReader) close() {
	r.over = true
	if r.tail != nil {
		r.tail.journal.Close()
		r.tail = nil
	}
}

// next returns the next block, which is valid until the next call, errNoMore, or io.EOF at
// the end of the tape. After any other error it continues after the unreadable part.
func (r *blockReader) next() (*block, error) {
	for {
		switch {
		case r.over:
			err := r.failed
			if r.failed = io.EOF; err != nil {
				return nil, err
			}
			return nil, io.EOF
		case r.tail != nil:
			if b, err := r.readTail(); b != nil || err != nil {
				return b, err
			}
		case len(r.keys) > 0:
			return r.readSealed()
		case !r.listed:
			r.list()
		default:
			r.openTail()
		}
	}
}

// end ends the tape with an error, or normally if failed is nil.
func (r *blockReader) end(failed error) {
	r.close()
	r.failed = failed
}

// list finds the blocks that follow the last one read.
func (r *blockReader) list() {
	keys, err := r.tape.from.keys()
	if err != nil && !(r.tape.store != nil && errors.Is(err, ErrNoTape)) {
		r.end(err)
		return
	}
	keys = keys[begin(keys, r.from):]
	for len(keys) > 0 && keys[0].index <= r.done {
		keys = keys[1:]
	}
	r.keys, r.listed = keys, true
}

func (r *blockReader) readSealed() (*block, error) {
	key := r.keys[0]
	r.keys, r.done = r.keys[1:], key.index
	b, err := r.tape.block(key, r.withBytes, r.buf)
	if b == nil {
		r.seen = 0 // it is unknown how many of them were in this block
	} else {
		again := min(r.seen, len(b.entries))
		b.entries = b.entries[again:]
		r.seen -= again
	}
	if errors.Is(err, ErrNoTape) {
		r.end(nil)
	}
	return b, err
}

// openTail continues in the journal, if there is one.
func (r *blockReader) openTail() {
	t := r.tape
	switch {
	case t.store == nil:
		r.end(nil)
	case t.store.hasJournal(t.id):
		k, err := t.openTail(r.done)
		switch {
		case err != nil:
			r.end(err)
		case k == nil:
			r.listed = false
		default:
			r.tail = k
		}
	case !t.store.hasFile(t.id):
		r.end(fmt.Errorf("tape %s: %w", t.id, ErrNoTape))
	default:
		if more, err := t.laterSealed(r.done); err != nil || !more {
			r.end(err)
		} else {
			r.listed = false
		}
	}
}

// readTail returns the next block of the journal, or nil once the tail is used up.
func (r *blockReader) readTail() (*block, error) {
	err := r.failed
	if r.failed = nil; err == nil {
		if r.live = r.tape.store.isLive(r.tape.id); !r.live { // check this first: the last writes are read below
			r.tail.journal.Known = r.tape.known
		}
		var b *block
		b, err = r.tail.read()
		if r.given(b) {
			r.failed = err
			return b, nil
		}
	}
	if errors.Is(err, journal.ErrRemoved) {
		more, failed := r.tape.laterSealed(r.done)
		if more && failed == nil {
			r.tail.journal.Close()
			r.tail, r.listed = nil, false
			return nil, nil
		}
		if err = failed; err == nil {
			err = r.tail.pass()
		}
	}
	switch {
	case err == nil:
		return nil, nil
	case err == io.EOF && r.live:
		return nil, errNoMore
	case err != io.EOF:
		r.end(err)
		return nil, nil
	}
	b, err := r.tail.flush()
	r.end(err)
	if r.given(b) {
		return b, nil
	}
	return nil, nil
}

// given counts the entries of a block from the journal, and reports whether there are
// any.
func (r *blockReader) given(b *block) bool {
	if len(b.entries) == 0 {
		return false
	}
	r.from = 0 // blocks sealed from now on are counted from their first entry
	r.seen += len(b.entries)
	return true
}
