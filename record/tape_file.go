package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/note"
)

// Names in a tape's file.
var (
	bucketTape     = []byte("tape") // facts of the tape, and its checkpoint
	bucketBlocks   = []byte("blocks")
	bucketSessions = []byte("sessions")
	keyInfo        = []byte("info")
	keyFormat      = []byte("format")
	keySealed      = []byte("sealed")
	keyHead        = []byte("head")
	keyRows        = []byte("rows")
	keyBytes       = []byte("bytes")
	keyState       = []byte("state")
)

// A tapeFile is the bbolt file of a tape.
type tapeFile struct {
	boltfile.File
	tape string // whose it is
}

// holds returns an error unless the file is that of the tape.
func (f tapeFile) holds(tape string) error {
	if tape != f.tape {
		return fmt.Errorf("%s says that it is of tape %q: %w", f, tape, ErrDamaged)
	}
	return nil
}

// boltBlocks are the blocks of a tape's file.
type boltBlocks struct{ file tapeFile }

func (s boltBlocks) view(f func(tx *bolt.Tx) error) error {
	err := s.file.View(f)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", s.file, ErrNoTape)
	}
	return err
}

func (s boltBlocks) keys() ([]blockKey, error) {
	var list []blockKey
	err := s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketBlocks)
		if b == nil {
			return fmt.Errorf("%s is no tape: %w", s.file, ErrDamaged)
		}
		return b.ForEachBucket(func(k []byte) error {
			key, ok := parseBlockKey(k)
			if !ok {
				return fmt.Errorf("%s: key %x of a block: %w", s.file, k, ErrDamaged)
			}
			list = append(list, key)
			return nil
		})
	})
	return list, err
}

func (s boltBlocks) read(key blockKey, withBytes bool) (encodedBlock, error) {
	var one encodedBlock
	err := s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketBlocks)
		if b == nil {
			return fmt.Errorf("%s is no tape: %w", s.file, ErrDamaged)
		}
		read, err := readBlock(b, key.encode())
		if err != nil {
			return err
		}
		if err := s.file.holds(read.head.Tape); err != nil {
			return err
		}
		one = encodedBlock{head: read.head, rows: bytes.Clone(read.rows)}
		if withBytes {
			one.bytes = bytes.Clone(read.bytes)
		}
		return nil
	})
	return one, err
}

func (s boltBlocks) facts() (Info, []SessionInfo, error) {
	facts, err := readFacts(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", s.file, ErrNoTape)
	}
	slices.SortFunc(facts.sessions, byFirst)
	return facts.info, facts.sessions, err
}

// readState returns the head and the state of the block with that key; of the
// last one if it is nil.
func readState(file tapeFile, key []byte) (encodedBlock, error) {
	var s encodedBlock
	err := file.View(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketBlocks)
		if b == nil {
			return fmt.Errorf("%s is no tape: %w", file, ErrDamaged)
		}
		if key == nil {
			key, _ = b.Cursor().Last()
		}
		var err error
		s, err = readBlock(b, key)
		if err == nil {
			err = file.holds(s.head.Tape)
		}
		s.rows, s.bytes, s.state = nil, nil, bytes.Clone(s.state)
		return err
	})
	return s, err
}

// readBlock reads the block with that key. What it returns is valid during the
// transaction only.
func readBlock(blocks *bolt.Bucket, key []byte) (encodedBlock, error) {
	b := blocks.Bucket(key)
	if b == nil {
		return encodedBlock{}, fmt.Errorf("block %x: %w", key, ErrDamaged)
	}
	if err := boltfile.CheckLeaf(b); err != nil {
		return encodedBlock{}, fmt.Errorf("block %x: %w", key, err)
	}
	head, err := decodeBlockHead(b.Get(keyHead))
	if err != nil {
		return encodedBlock{}, err
	}
	s := encodedBlock{head: head, rows: b.Get(keyRows), bytes: b.Get(keyBytes), state: b.Get(keyState)}
	if max(len(s.rows), len(s.bytes)) > maxPlain || len(s.state) > maxState { // packed, and so less than that
		return encodedBlock{}, fmt.Errorf("block %x: its size: %w", key, ErrDamaged)
	}
	return s, nil
}

// memoryBlocks are the blocks of a tape that was read from a portable file. They
// stay compressed.
type memoryBlocks struct {
	list     []encodedBlock
	info     Info
	sessions []SessionInfo
	notes    note.List
	lines    lineNumbers
}

func (m *memoryBlocks) keys() ([]blockKey, error) {
	list := make([]blockKey, len(m.list))
	for i, s := range m.list {
		list[i] = s.head.key()
	}
	return list, nil
}

func (m *memoryBlocks) read(key blockKey, _ bool) (encodedBlock, error) {
	return m.list[key.index], nil
}

func (m *memoryBlocks) facts() (Info, []SessionInfo, error) { return m.info, m.sessions, nil }
