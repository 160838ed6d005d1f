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
	tape string // the id of its tape
}

// holds returns an error unless tape is the id of the file's tape.
func (f tapeFile) holds(tape string) error {
	if tape != f.tape {
		return fmt.Errorf("%s says that it belongs to tape %q: %w", f, tape, ErrDamaged)
	}
	return nil
}

// view calls see with the buckets of a tape's file.
func (f tapeFile) view(see func(tape, blocks *bolt.Bucket) error) error {
	return f.View(func(tx *bolt.Tx) error {
		tape, blocks := tx.Bucket(bucketTape), tx.Bucket(bucketBlocks)
		if tape == nil || blocks == nil {
			return fmt.Errorf("%s is no tape: %w", f, ErrDamaged)
		}
		return see(tape, blocks)
	})
}

// orNoTape turns the error of a missing file into ErrNoTape.
func (f tapeFile) orNoTape(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", f, ErrNoTape)
	}
	return err
}

// boltBlocks are the blocks of a tape's file.
type boltBlocks struct{ file tapeFile }

func (s boltBlocks) keys() ([]blockKey, error) {
	var list []blockKey
	err := s.file.view(func(_, blocks *bolt.Bucket) error {
		return blocks.ForEachBucket(func(k []byte) error {
			key, ok := parseBlockKey(k)
			if !ok {
				return fmt.Errorf("%s: key %x of a block: %w", s.file, k, ErrDamaged)
			}
			list = append(list, key)
			return nil
		})
	})
	return list, s.file.orNoTape(err)
}

func (s boltBlocks) read(key blockKey, withBytes bool) (encodedBlock, error) {
	var one encodedBlock
	err := s.file.view(func(_, blocks *bolt.Bucket) error {
		read, err := readBlock(blocks, key.encode())
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
	return one, s.file.orNoTape(err)
}

func (s boltBlocks) facts() (Info, []SessionInfo, error) {
	facts, err := readFacts(s.file)
	slices.SortFunc(facts.sessions, byFirst)
	return facts.info, facts.sessions, s.file.orNoTape(err)
}

// readState returns the head and the state of the block with that key, or of the last block
// if key is nil.
func readState(file tapeFile, key []byte) (encodedBlock, error) {
	var s encodedBlock
	err := file.view(func(_, blocks *bolt.Bucket) (err error) {
		if key == nil {
			key, _ = blocks.Cursor().Last()
		}
		s, err = readBlock(blocks, key)
		if err == nil {
			err = file.holds(s.head.Tape)
		}
		s.rows, s.bytes, s.state = nil, nil, bytes.Clone(s.state)
		return err
	})
	return s, err
}

// readBlock reads the block with that key. The result is valid only during the transaction.
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
	if max(len(s.rows), len(s.bytes)) > maxPlain || len(s.state) > maxState { // compressed, so smaller than that
		return encodedBlock{}, fmt.Errorf("block %x: its size: %w", key, ErrDamaged)
	}
	return s, nil
}

// memoryBlocks are the compressed blocks of a tape that was read from a portable file.
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
