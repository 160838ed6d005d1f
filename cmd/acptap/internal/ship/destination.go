package ship

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
)

// A Destination is a place to deliver to. A file in the store's ship directory records
// how much has arrived, so that the next process continues regardless of how the last one
// ended. The file does not contain the address, which may include a password. Several
// processes may use the methods safely.
type Destination struct {
	file boltfile.File
	lock *os.File // nil: we do not hold it
}

// A Cursor says how much of one item, such as a tape, has arrived.
type Cursor struct {
	Seq     uint64 `json:"seq"`               // everything that completed up to this frame
	Done    bool   `json:"done,omitempty"`    // all of it has arrived
	Turns   uint64 `json:"turns,omitempty"`   // how many
	Refused uint64 `json:"refused,omitempty"` // number of spans and so on that were permanently refused
	Notes   string `json:"notes,omitempty"`   // a fingerprint of the tape's notes, where they are delivered too
}

// A Head describes a destination as a whole.
type Head struct {
	Name    string    `json:"name"`              // for people: an address without its secrets
	Begun   bool      `json:"begun,omitempty"`   // deliver the whole store, not only individual tapes
	From    time.Time `json:"from,omitzero"`     // deliver only what was recorded since; zero: everything
	Pruned  uint64    `json:"pruned,omitempty"`  // number of tapes that were deleted before they had arrived
	Refusal string    `json:"refusal,omitempty"` // reason of the last permanent refusal
	Trouble string    `json:"trouble,omitempty"` // why nothing arrives; empty if delivery works
	Since   time.Time `json:"since,omitzero"`    // when that began
}

// The bucket head has a Head under the key head, the bucket cursors has a Cursor for each
// key, all in JSON. Readers ignore unknown members.
var (
	bucketHead    = []byte("head")
	bucketCursors = []byte("cursors")
	keyHead       = []byte("head")
)

// lockTimeout limits the wait for other users of the file, who hold it for milliseconds.
const lockTimeout = 10 * time.Second

func dir(store string) string { return filepath.Join(store, "ship") }

// To returns the destination with this address for the store in a directory. It creates no
// file.
func To(store, address string) *Destination {
	sum := sha256.Sum256([]byte(address))
	return at(filepath.Join(dir(store), fmt.Sprintf("%x.db", sum[:6])))
}

// Path returns the path of the file that keeps what has arrived.
func (d *Destination) Path() string { return d.file.Path }

func at(path string) *Destination {
	return &Destination{file: boltfile.File{Path: path, LockTimeout: lockTimeout}}
}

// Destinations returns all destinations of a store.
func Destinations(store string) (list []*Destination, err error) {
	entries, err := os.ReadDir(dir(store))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".db"); ok && len(name) == 12 && strings.Trim(name, "0123456789abcdef") == "" {
			list = append(list, at(filepath.Join(dir(store), e.Name())))
		}
	}
	return list, err
}

// Lock makes the caller the only one that delivers, until Unlock or the end of the
// process. ok is false if another process holds the lock.
func (d *Destination) Lock() (ok bool, err error) {
	if err := os.MkdirAll(filepath.Dir(d.file.Path), 0o700); err != nil {
		return false, err
	}
	for range lockTries {
		if d.lock, err = disk.TryLock(d.lockPath(), true); err != nil {
			return false, err
		}
		if d.lock != nil {
			err := d.lock.Truncate(0)
			if err == nil {
				_, err = fmt.Fprintln(d.lock, os.Getpid())
			}
			return true, err
		}
		if d.Locked() {
			return false, nil
		}
	}
	return false, nil
}

// lockTries limits how often Lock tries a free lock: checking a lock takes it for a
// moment, and releasing it removes its file.
const lockTries = 10

// Unlock releases the lock.
func (d *Destination) Unlock() error {
	lock := d.lock
	d.lock = nil
	return disk.RemoveLocked(lock)
}

// Locked reports whether another process holds the lock.
func (d *Destination) Locked() bool { return disk.IsLocked(d.lockPath()) }

// Holder returns the id of the process that holds the lock, or 0 if none does or the
// system does not say.
func (d *Destination) Holder() (pid int) {
	if text, err := os.ReadFile(d.lockPath()); err == nil && d.Locked() {
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return pid
}

func (d *Destination) lockPath() string { return strings.TrimSuffix(d.file.Path, ".db") + ".lock" }

// Read returns the head and all cursors, or none if nothing was delivered yet.
func (d *Destination) Read() (head Head, cursors map[string]Cursor, err error) {
	cursors = map[string]Cursor{}
	err = d.file.View(func(tx *bolt.Tx) error {
		b, err := d.buckets(tx)
		if err != nil {
			return err
		}
		if head, err = b.readHead(); err != nil {
			return err
		}
		return boltfile.EachValue(b.cursors, func(k, v []byte) error {
			var c Cursor
			if err := json.Unmarshal(v, &c); err != nil {
				return d.damaged(err)
			}
			cursors[string(k)] = c
			return nil
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return head, cursors, d.explain(err)
}

// Update durably makes a change, all or nothing. It does not recreate a deleted store.
func (d *Destination) Update(change func(*Update)) error {
	if err := os.Mkdir(filepath.Dir(d.file.Path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	err := d.file.Create(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket(bucketHead)
		if err == nil {
			_, err = tx.CreateBucket(bucketCursors)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	err = d.file.Update(func(tx *bolt.Tx) error {
		b, err := d.buckets(tx)
		if err != nil {
			return err
		}
		u := Update{buckets: b}
		if u.Head, err = b.readHead(); err != nil {
			return err
		}
		was := u.Head
		if change(&u); u.err == nil && u.Head != was {
			u.put(b.head, keyHead, u.Head)
		}
		return u.err
	})
	return d.explain(err)
}

// An Update is a change in progress. Head is the stored one until the caller changes it.
type Update struct {
	Head Head

	buckets
	err error
}

// Put writes the cursor of an item.
func (u *Update) Put(key string, c Cursor) { u.put(u.cursors, []byte(key), c) }

// Forget removes the cursor of an item.
func (u *Update) Forget(key string) {
	if u.err == nil {
		u.err = u.cursors.Delete([]byte(key))
	}
}

func (u *Update) put(b *bolt.Bucket, key []byte, v any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = b.Put(key, text)
	}
	u.err = errors.Join(u.err, err)
}

type buckets struct {
	of            *Destination
	head, cursors *bolt.Bucket
}

func (d *Destination) buckets(tx *bolt.Tx) (b buckets, err error) {
	b = buckets{d, tx.Bucket(bucketHead), tx.Bucket(bucketCursors)}
	if b.head == nil || b.cursors == nil {
		err = d.damaged(errors.New("it is the file of something else"))
	}
	return b, err
}

func (b buckets) readHead() (h Head, err error) {
	text := slices.Clone(b.head.Get(keyHead))
	if text == nil {
		return h, nil
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return h, b.of.damaged(err)
	}
	return h, nil
}

func (d *Destination) damaged(err error) error {
	return fmt.Errorf("%s: %w (%v)", d.file, disk.ErrDamaged, err)
}

// explain adds advice to the error for a damaged file.
func (d *Destination) explain(err error) error {
	if errors.Is(err, disk.ErrDamaged) {
		return fmt.Errorf("%w; remove it, and what has arrived is delivered again", err)
	}
	return err
}
