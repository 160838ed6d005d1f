//go:build linux

package record_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/acptap/acptap/record"
)

// Damage in the head of a page may make bbolt recurse without end, or take more
// memory than there is: no recover stops either. Every page in turn is damaged so,
// in the catalogue and in a tape, and then read and written to.
func TestDamagedPageHead(t *testing.T) {
	sealed, id, _, _ := sealedTape(t, 7000)
	order := binary.NativeEndian
	for name, damage := range map[string]func(page []byte, id int64){
		"a branch that leads to itself": func(page []byte, id int64) {
			order.PutUint64(page, uint64(id))
			order.PutUint16(page[8:], 1) // a branch page
			order.PutUint16(page[10:], 1)
			order.PutUint32(page[12:], 0)
			order.PutUint32(page[16:], 16) // its one element, with an empty key
			order.PutUint32(page[20:], 0)
			order.PutUint64(page[24:], uint64(id)) // leads to itself
		},
		"pages without end": func(page []byte, _ int64) { order.PutUint32(page[12:], 1<<31) }, // so many more it takes
	} {
		t.Run(name, func(t *testing.T) {
			store := orphan(t, sealed)
			if err := store.Rebuild(nil); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"acptap.db", "tapes/" + id + ".db"} {
				path := filepath.Join(store.Dir(), file)
				whole := readFile(t, path)
				size := int64(os.Getpagesize())
				damaged := 0
				step := int64(1)
				if testing.Short() {
					step = 3
				}
				for page := int64(2); page < min(int64(len(whole))/size, 40); page += step {
					b := bytes.Clone(whole)
					damage(b[page*size:], page)
					writeFile(t, path, b)
					if _, err := store.List(); err != nil {
						t.Fatal(err)
					}
					for _, err := range open(t, store, id).Frames(1) {
						if errors.Is(err, record.ErrDamaged) {
							damaged++
						}
					}
					j := begin(t, store) // writes to the catalogue
					j.Close()
					j.Wait()
				}
				if damaged == 0 && file != "acptap.db" {
					t.Errorf("%s: no page of %d was missed", file, int64(len(whole))/size)
				}
				writeFile(t, path, whole)
			}
		})
	}
}
