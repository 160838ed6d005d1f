package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/boltfile"
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

// memoryBlocks are the blocks of a tape that was read from a portable file. They
// stay compressed.
type memoryBlocks struct {
	list     []encodedBlock
	info     Info
	sessions []SessionInfo
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
