package note

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
)

// A File is the bbolt file with the tags and notes on all tapes of a store. Each tag and
// each note has its own key, so that writers rewrite only what they change, and listings
// read no texts:
//
//	TAPE NUL t TAG   {}
//	TAPE NUL n ID    the note as JSON; the ID is 8 bytes, big-endian
//
// A reader ignores unknown kinds and members. The bucket head says what it must know: its
// key head is {"format":1,"needs":[…]} (package need).
type File struct{ boltfile.File }

var (
	bucketNotes = []byte("notes")
	bucketHead  = []byte("head")
	keyHead     = []byte("head")
)

const (
	kindTag  = 't'
	kindNote = 'n'

	format = 1
)

// ErrNone says that the tag or note to remove does not exist.
var ErrNone = errors.New("not there")

// key returns the key of a tag or note on a tape.
func key(tape string, kind byte, rest []byte) []byte {
	return append(append(append(make([]byte, 0, len(tape)+2+len(rest)), tape...), 0, kind), rest...)
}

func keyOf(tape string, id uint64) []byte {
	return key(tape, kindNote, binary.BigEndian.AppendUint64(nil, id))
}

// cut splits a key.
func cut(k []byte) (tape []byte, kind byte, rest []byte, ok bool) {
	tape, rest, ok = bytes.Cut(k, []byte{0})
	if !ok || len(rest) < 2 {
		return nil, 0, nil, false
	}
	return tape, rest[0], rest[1:], true
}

// Read returns what is written on a tape, or nothing if there is no file. With an error
// it returns what could be read.
func (f File) Read(tape string) (l List, err error) {
	err = f.view(func(b *bolt.Bucket) error {
		l, err = read(b, tape)
		return err
	})
	return l, err
}

func read(b *bolt.Bucket, tape string) (l List, err error) {
	failed := eachOf(b, tape, func(kind byte, rest, v []byte) {
		switch {
		case kind == kindTag:
			l.Tags = append(l.Tags, string(rest))
		case kind == kindNote && len(rest) == 8:
			var n Note
			if bad := json.Unmarshal(v, &n); bad != nil {
				err = fmt.Errorf("a note on tape %s: %w (%v)", tape, disk.ErrDamaged, bad)
				return
			}
			n.ID = binary.BigEndian.Uint64(rest)
			l.Notes = append(l.Notes, n)
		}
	})
	l.sort()
	return l, cmp.Or(failed, err)
}

// maxEdit limits what an edit adds before the file has grown: as JSON a note may take six
// times as many bytes.
const maxEdit = 8 * MaxNotes * MaxText

// eachOf calls see with the kind, the rest of the key, and the value of each tag and note
// on a tape. They are valid only during the call. Like boltfile.EachValue, it fails if
// damaged pages lead to the same bytes again and again.
func eachOf(b *bolt.Bucket, tape string, see func(kind byte, rest, v []byte)) error {
	prefix := append([]byte(tape), 0)
	left := b.Tx().Size()
	if b.Tx().Writable() {
		left += maxEdit
	}
	c := b.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if left -= int64(len(k) + len(v)); left < 0 {
			return fmt.Errorf("notes on tape %s: values that overlap: %w", tape, disk.ErrDamaged)
		}
		if _, kind, rest, ok := cut(k); ok {
			see(kind, rest, v)
		}
	}
	return nil
}

// A Summary is what listings show of a tape.
type Summary struct {
	Tags  []string // sorted
	Notes int      // their number
}

// Summaries returns a Summary for each tape on which something is written, and as much as
// it can read of a damaged file.
func (f File) Summaries() (tapes map[string]*Summary, err error) {
	tapes = map[string]*Summary{}
	err = f.view(func(b *bolt.Bucket) error {
		var latest []byte
		var s *Summary
		return boltfile.EachValue(b, func(k, _ []byte) error {
			tape, kind, rest, ok := cut(k)
			if !ok {
				return nil
			}
			if s == nil || !bytes.Equal(tape, latest) { // keys are sorted
				s, latest = new(Summary), tape
				tapes[string(tape)] = s
			}
			switch kind {
			case kindTag:
				s.Tags = append(s.Tags, string(rest))
			case kindNote:
				s.Notes++
			}
			return nil
		})
	})
	return tapes, err
}

// view calls f with the bucket of the notes, if there is one.
func (f File) view(see func(b *bolt.Bucket) error) error {
	err := f.View(func(tx *bolt.Tx) error {
		if err := f.check(tx); err != nil {
			return err
		}
		if b := tx.Bucket(bucketNotes); b != nil {
			return see(b)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// A head says what a reader must know.
type head struct {
	Format int        `json:"format"`
	Needs  disk.Needs `json:"needs,omitempty"`
}

// check returns an error if only a newer acptap can read the file.
func (f File) check(tx *bolt.Tx) error {
	b := tx.Bucket(bucketHead)
	if b == nil {
		return nil
	}
	var h head
	if json.Unmarshal(b.Get(keyHead), &h) != nil {
		return nil // a damaged head does not prevent reading
	}
	if h.Format > format {
		return fmt.Errorf("%s: version %d: %w", f, h.Format, disk.ErrNewer)
	}
	return h.Needs.Check(f.String())
}

// Edit changes what is written on a tape, and returns the result. there, which may be nil,
// is called under the write lock; its error aborts the edit.
func (f File) Edit(tape string, e Edit, there func() error) (l List, err error) {
	if err := e.check(); err != nil {
		return l, err
	}
	write := func(tx *bolt.Tx) error {
		if there != nil {
			if err := there(); err != nil {
				return err
			}
		}
		if err := f.check(tx); err != nil {
			return err
		}
		b, err := begin(tx)
		if err != nil {
			return err
		}
		if err := e.apply(b, tape); err != nil {
			return err
		}
		l, err = read(b, tape)
		return err
	}
	err = f.UpdateOrCreate(write)
	if err == nil && len(e.Untag)+len(e.Remove) > 0 {
		err = f.compact()
	}
	return l, err
}

// Forget removes everything written on the given tapes.
func (f File) Forget(tapes []string) error {
	var keys [][]byte
	err := f.view(func(b *bolt.Bucket) (err error) {
		for _, tape := range tapes {
			err = errors.Join(err, eachOf(b, tape, func(kind byte, rest, _ []byte) { keys = append(keys, key(tape, kind, rest)) }))
		}
		return err
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	err = f.Update(func(tx *bolt.Tx) error {
		b, err := begin(tx)
		for _, k := range keys {
			err = errors.Join(err, b.Delete(k))
		}
		return err
	})
	if err == nil {
		err = f.compact()
	}
	return err
}

// Mend removes what is written on tapes that are gone, and rewrites a damaged file with
// whatever is readable.
func (f File) Mend(gone func(tape string) bool) error {
	type pair struct{ k, v []byte }
	var kept []pair
	lost := map[string]bool{}
	err := f.view(func(b *bolt.Bucket) error {
		return boltfile.EachValue(b, func(k, v []byte) error {
			if tape, _, _, ok := cut(k); ok && gone(string(tape)) {
				lost[string(tape)] = true
			} else {
				kept = append(kept, pair{bytes.Clone(k), bytes.Clone(v)})
			}
			return nil
		})
	})
	if !errors.Is(err, disk.ErrDamaged) {
		return cmp.Or(err, f.Forget(slices.Collect(maps.Keys(lost))))
	}
	tmp, err := f.Temporary()
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	err = boltfile.File{Path: tmp}.Update(func(tx *bolt.Tx) error {
		b, err := begin(tx)
		for _, p := range kept {
			err = errors.Join(err, b.Put(p.k, p.v))
		}
		return err
	})
	if err != nil {
		return err
	}
	return disk.Rename(tmp, f.Path)
}

// compact is Compact after something was removed.
func (f File) compact() error {
	if err := f.Compact(); err != nil {
		return fmt.Errorf("what was removed can still be found in %s: %w", f, err)
	}
	return nil
}

// begin returns the bucket of the notes, and creates it in a new file.
func begin(tx *bolt.Tx) (*bolt.Bucket, error) {
	if b := tx.Bucket(bucketNotes); b != nil {
		return b, nil
	}
	h, err := tx.CreateBucketIfNotExists(bucketHead)
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(head{Format: format})
	if err != nil {
		return nil, err
	}
	if err := h.Put(keyHead, value); err != nil {
		return nil, err
	}
	return tx.CreateBucket(bucketNotes)
}

// apply makes the edit.
func (e Edit) apply(b *bolt.Bucket, tape string) error {
	var tags, notes int
	var last uint64 // ID of a note
	err := eachOf(b, tape, func(kind byte, rest, _ []byte) {
		switch {
		case kind == kindTag:
			tags++
		case kind == kindNote && len(rest) == 8:
			notes++
			last = binary.BigEndian.Uint64(rest)
		}
	})
	if err != nil {
		return err
	}
	for _, tag := range e.Untag {
		if err := remove(b, key(tape, kindTag, []byte(tag)), "tag %.80q", tag); err != nil {
			return err
		}
	}
	for _, id := range e.Remove {
		if err := remove(b, keyOf(tape, id), "note %d", id); err != nil {
			return err
		}
	}
	for _, tag := range e.Tag {
		k := key(tape, kindTag, []byte(tag))
		if b.Get(k) != nil {
			continue
		}
		tags++
		if err := b.Put(k, []byte("{}")); err != nil {
			return err
		}
	}
	for _, n := range e.Add {
		last++
		notes++
		n.ID = 0 // the key has it
		value, err := json.Marshal(n)
		if err == nil {
			err = b.Put(keyOf(tape, last), value)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(e.Tag) > 0 && tags-len(e.Untag) > MaxTags:
		return errTags
	case len(e.Add) > 0 && notes-len(e.Remove) > MaxNotes:
		return errNotes
	}
	return nil
}

// remove deletes a key, which must exist.
func remove(b *bolt.Bucket, key []byte, what string, a ...any) error {
	if b.Get(key) == nil {
		return fmt.Errorf(what+": %w", append(a, ErrNone)...)
	}
	return b.Delete(key)
}
