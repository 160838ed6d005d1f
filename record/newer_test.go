//go:build linux

package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record"
)

// What a newer acptap has written is left alone.
func TestNewer(t *testing.T) {
	t.Run("journal", func(t *testing.T) {
		store, tape, _ := small(t)
		path := segmentsOf(t, store)[0]
		rewriteHead(t, path, `{"version":1`, `{"version":2`)
		whole := readFile(t, path)
		for _, err := range open(t, store, tape).Frames(1) {
			if !errors.Is(err, record.ErrNewer) {
				t.Errorf("reading: %v", err)
			}
		}
		if err := store.Recover(func() bool { return false }, nil); !errors.Is(err, record.ErrNewer) {
			t.Errorf("recovering: %v", err)
		}
		if !bytes.Equal(readFile(t, path), whole) {
			t.Error("the journal was changed")
		}
	})
	sealed, id, _, _ := sealedTape(t, 7000)
	file := func(store *record.Store) string { return filepath.Join(store.Dir(), "tapes", id+".db") }
	t.Run("block", func(t *testing.T) {
		store := orphan(t, sealed)
		edit(t, file(store), func(tx *bolt.Tx) error {
			blocks := tx.Bucket([]byte("blocks"))
			k, _ := blocks.Cursor().Last()
			head := map[string]any{}
			if err := json.Unmarshal(blocks.Bucket(k).Get([]byte("head")), &head); err != nil {
				return err
			}
			head["version"] = 2
			text, err := json.Marshal(head)
			if err != nil {
				return err
			}
			return blocks.Bucket(k).Put([]byte("head"), text)
		})
		s := survive(t, open(t, store, id))
		if len(s.errs) != 1 || !errors.Is(s.errs[0], record.ErrNewer) {
			t.Errorf("errors %v, want one", s.errs)
		}
	})
	t.Run("facts", func(t *testing.T) {
		store := orphan(t, sealed)
		edit(t, file(store), func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("tape"))
			info := bytes.Clone(b.Get([]byte("info")))
			info[0] = 9
			return b.Put([]byte("info"), info)
		})
		if _, err := open(t, store, id).Info(); !errors.Is(err, record.ErrNewer) {
			t.Errorf("facts: %v", err)
		}
	})
}
