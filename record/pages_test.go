//go:build linux

package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"os"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/testdata/memtest"
)

// A file's claim about its free pages is not trusted if bbolt would allocate memory for them,
// nor is a missing list of them: bbolt would walk a damaged tree in a goroutine without
// recover.
func TestFreePages(t *testing.T) {
	order := binary.NativeEndian
	pages := func(n uint64) func(meta, list []byte) {
		return func(_, list []byte) {
			order.PutUint16(list[10:], 0xffff)
			order.PutUint64(list[16:], n)
		}
	}
	for name, damage := range map[string]func(meta, list []byte){
		"many":            pages(1 << 28),
		"without end":     pages(1 << 45),
		"behind the list": func(_, list []byte) { order.PutUint16(list[10:], 0xfffe) },
		"no list":         func(meta, _ []byte) { order.PutUint64(meta[48:], 1<<64-1) },
		"behind the file": func(meta, _ []byte) { order.PutUint64(meta[48:], 1<<52+2) },
	} {
		t.Run(name, func(t *testing.T) {
			store, tape := importOne(t)
			path := store.catalogue().Path
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			page := func(n uint64) []byte { return file[n*uint64(os.Getpagesize()):] }
			for n := range uint64(2) {
				meta := page(n)
				damage(meta, page(order.Uint64(meta[48:])))
				if name == "no list" {
					order.PutUint16(page(order.Uint64(meta[32:]))[8:], 0x40) // the root is no page
				}
				sum := fnv.New64a()
				sum.Write(meta[16:72])
				order.PutUint64(meta[72:], sum.Sum64())
			}
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			memtest.Bound(t, func() {
				if err := store.index(tape); !errors.Is(err, ErrDamaged) {
					t.Errorf("got %v, want damage", err)
				}
			})
			if l, err := store.List(); err != nil || len(l.Tapes) != 1 {
				t.Errorf("listed %d tapes, want 1: %v", len(l.Tapes), err)
			}
		})
	}
}

// A bucket in the catalogue that refers back to itself does not crash a process that deletes
// a tape.
func TestBucketsInCatalogue(t *testing.T) {
	store, tape := importOne(t)
	path := store.catalogue().Path
	var outer, inner uint64
	err := store.catalogue().Update(func(tx *bolt.Tx) error {
		b, err := tx.Bucket(bucketTapes).CreateBucket([]byte("outer"))
		if err != nil {
			return err
		}
		if b, err = b.CreateBucket([]byte("inner")); err != nil {
			return err
		}
		return b.Put([]byte("key"), make([]byte, 2000))
	})
	if err == nil {
		err = store.catalogue().View(func(tx *bolt.Tx) error {
			b := tx.Bucket(bucketTapes).Bucket([]byte("outer"))
			outer, inner = uint64(b.Root()), uint64(b.Bucket([]byte("inner")).Root())
			return nil
		})
	}
	file, failed := os.ReadFile(path)
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	order := binary.NativeEndian
	page := file[outer*uint64(os.Getpagesize()):][16:]
	at := bytes.Index(page, order.AppendUint64(nil, inner))
	order.PutUint64(page[at:], outer)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if gone, err := store.Delete(tape); len(gone) != 1 || !errors.Is(err, ErrDamaged) {
		t.Errorf("deleted %q: %v", gone, err)
	}
}
