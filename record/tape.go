package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"

	"github.com/acptap/acptap/record/portable"
)

// A Tape reads a tape from its blocks, and from any part of its journal not yet sealed.
// It holds no file open between calls. Only one goroutine may use it.
type Tape struct {
	id    string
	from  blocks
	store *Store  // nil if the tape is in a file outside a store
	known []int64 // segments of a journal no longer being written; nil: look them up
	codec *codec
}

// blocks is the source of sealed blocks: a tape's bbolt file, or memory.
type blocks interface {
	// keys returns the keys of the blocks, in order.
	keys() ([]blockKey, error)
	// read returns the block with that key, and omits its bytes unless withBytes is set.
	read(key blockKey, withBytes bool) (encodedBlock, error)
	// facts returns what is known about the tape and its sessions.
	facts() (Info, []SessionInfo, error)
}

// Clone returns the tape for use by another goroutine. It does not check whether the tape
// still exists.
func (t *Tape) Clone() *Tape {
	other := *t
	other.codec = new(codec)
	return &other
}

// ID returns the tape's id. For a file outside a store that is the id under which it was
// recorded, if known.
func (t *Tape) ID() string { return t.id }

// Info returns what is known about the tape now.
func (t *Tape) Info() (Info, error) {
	info, _, err := t.facts()
	return info, err
}

// Sessions returns the sessions on the tape, each with its one run, ordered by first
// frame.
func (t *Tape) Sessions() ([]SessionInfo, error) {
	_, sessions, err := t.facts()
	return slices.DeleteFunc(sessions, func(s SessionInfo) bool { return !s.exists() }), err
}

// Until returns the tapes of the store that hold a session of this tape, up to and
// including this one. If the tape is in a file outside of a store, it returns only that.
func (t *Tape) Until(one SessionInfo) ([]*Tape, error) {
	if t.store == nil {
		return []*Tape{t}, nil
	}
	l, err := t.store.List()
	if err != nil {
		return nil, err
	}
	for _, known := range slices.Concat(l.Sessions, l.Deleted) {
		i := slices.IndexFunc(known.Runs, func(r Run) bool { return r.Tape == t.id })
		if known.ID != one.ID || known.Agent != one.Agent || i < 0 {
			continue
		}
		var tapes []*Tape
		for _, r := range known.Runs[:i] {
			earlier, err := t.store.Open(r.Tape)
			if errors.Is(err, ErrNoTape) {
				continue // deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
			tapes = append(tapes, earlier)
		}
		return append(tapes, t), nil
	}
	return []*Tape{t}, nil
}

// Rows yields the frames starting at number from, without their bytes. That is much
// faster if the fields suffice (BenchmarkMillion).
//
// An error takes the place of a part that cannot be read; the frames after it follow.
func (t *Tape) Rows(from uint64) iter.Seq2[dialect.Frame, error] {
	return t.frames(from, false)
}

// Frames yields the frames starting at number from. The bytes of a frame are valid until
// the next one is requested. Errors are as with Rows.
func (t *Tape) Frames(from uint64) iter.Seq2[dialect.Frame, error] {
	return t.frames(from, true)
}

// Follow is Frames for a tape that is still being recorded: at the end it waits
// for more, until the tape has ended or ctx is done.
func (t *Tape) Follow(ctx context.Context, from uint64) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		for c, err := range t.Watch(ctx, from) {
			if c.Kind == FrameRecorded && !yield(c.Frame, err) {
				return
			}
		}
	}
}

// Frame returns the frame with that number.
func (t *Tape) Frame(seq uint64) (dialect.Frame, error) {
	for f, err := range t.Frames(seq) {
		if err != nil {
			return f, err
		}
		if f.Seq == seq {
			return f, nil
		}
		break
	}
	return dialect.Frame{}, fmt.Errorf("tape %s has no frame %d", t.id, seq)
}

// Last returns the number of the last frame, or 0 if there are none.
func (t *Tape) Last() (uint64, error) {
	info, err := t.Info()
	return info.Lines, err
}

func (t *Tape) frames(from uint64, withBytes bool) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		next := max(from, 1)
		for b, err := range t.blocksFrom(next, withBytes) {
			if err != nil {
				if !yield(dialect.Frame{}, err) {
					return
				}
				continue
			}
			for f, err := range t.framesOf(b, &next, withBytes) {
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

// framesOf yields the frames of a block starting at number next, and advances next.
func (t *Tape) framesOf(b *block, next *uint64, withBytes bool) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		for i := range b.entries {
			e := &b.entries[i]
			if e.part || e.sub || e.Seq < *next {
				continue
			}
			*next = e.Seq + 1
			f := e.Frame
			var err error
			if withBytes && int64(e.stored) < f.Size {
				f.Raw, err = t.beginning(&f, e.back)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// blocksFrom yields blocks starting with the one that has frame from: first the sealed
// ones, then the journal, block by block. A block is valid until the next one is
// requested.
func (t *Tape) blocksFrom(from uint64, withBytes bool) iter.Seq2[*block, error] {
	return func(yield func(*block, error) bool) {
		r := newBlockReader(t, from, withBytes)
		defer r.close()
		for {
			if b, err := r.next(); err == io.EOF || err == errNoMore || !yield(b, err) {
				return
			}
		}
	}
}

// begin returns the index of the block that holds frame from.
func begin(keys []blockKey, from uint64) int {
	lo := 0
	for i, key := range keys {
		if key.first <= from {
			lo = i
		}
	}
	return lo
}

func (t *Tape) block(key blockKey, withBytes bool, buf *decodeBuffer) (*block, error) {
	s, err := t.from.read(key, withBytes)
	if err != nil {
		return nil, err
	}
	return t.decode(s, withBytes, buf)
}

func (t *Tape) decode(s encodedBlock, withBytes bool, buf *decodeBuffer) (b *block, err error) {
	err = guarded(func() error {
		b, err = t.codec.decode(s, withBytes, buf)
		return err
	})
	return b, err
}

// errEnough ends a write early.
var errEnough = errors.New("enough")

// beginning returns the first wire.MaxChecked bytes of a frame that came in parts, and sets
// the frame's lead to that of the first part.
func (t *Tape) beginning(f *dialect.Frame, back uint64) ([]byte, error) {
	w := &limited{left: wire.MaxChecked}
	err := t.parts(w, f, back)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return w.b, err
}

type limited struct {
	b    []byte
	left int
}

func (w *limited) Write(p []byte) (int, error) {
	n := min(len(p), w.left-len(w.b))
	w.b = append(w.b, p[:n]...)
	if n < len(p) {
		return n, errEnough
	}
	return n, nil
}

// WriteFrame writes all bytes of a frame, however long, without its line end. It holds at
// most a block of them at a time.
func (t *Tape) WriteFrame(w io.Writer, seq uint64) error {
	for b, err := range t.blocksFrom(seq, true) {
		if err != nil {
			return err
		}
		for i := range b.entries {
			e := &b.entries[i]
			if e.part || e.sub || e.Seq != seq {
				continue
			}
			if int64(e.stored) == e.Size {
				_, err := w.Write(e.Raw)
				return err
			}
			return t.parts(w, &e.Frame, e.back)
		}
	}
	return fmt.Errorf("tape %s has no frame %d", t.id, seq)
}

// parts writes the bytes of a frame that came in parts, and sets the frame's lead to that
// of the first part.
func (t *Tape) parts(w io.Writer, f *dialect.Frame, back uint64) error {
	began, first := f.Seq-back, true
	for b, err := range t.blocksFrom(began-1, true) {
		if err != nil {
			return err
		}
		for i := range b.entries {
			e := &b.entries[i]
			if e.Dir != f.Dir || e.Stream != f.Stream || e.sub || e.Seq < began || !e.part && e.Seq != f.Seq {
				continue
			}
			if first {
				f.Lead, first = bytes.Clone(e.Lead), false
			}
			if _, err := w.Write(e.Raw); err != nil || !e.part {
				return err
			}
		}
	}
	return fmt.Errorf("frame %d of tape %s: %w: a part of it is missing", f.Seq, t.id, ErrDamaged)
}

// lineNumbers maps frames of a tape to lines of a file. It has an entry only where the
// difference of the two numbers changes.
type lineNumbers []lineNumber

type lineNumber struct {
	seq  uint64
	line int
}

// add notes the line of a frame. Frames are added in order.
func (l *lineNumbers) add(seq uint64, line int) {
	if line > 0 && l.of(seq) != line {
		*l = append(*l, lineNumber{seq, line})
	}
}

// of returns the line of a frame, or 0 if it is unknown.
func (l lineNumbers) of(seq uint64) int {
	i := sort.Search(len(l), func(i int) bool { return l[i].seq > seq })
	if i == 0 {
		return 0
	}
	return l[i-1].line + int(seq-l[i-1].seq)
}

// Line returns the line of a frame, from 1, in the file that the tape was read from, or
// else in the one that Export would write. It returns 0 if the file does not consist of
// lines.
func (t *Tape) Line(seq uint64) int {
	if m, ok := t.from.(*memoryBlocks); ok {
		return m.lines.of(seq)
	}
	return int(min(seq, portable.MaxSeq)) + 1 // after the header
}
