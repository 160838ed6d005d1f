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

// A Destination is where something is delivered to. A file in the directory ship of the store
// keeps how much has arrived there, so that the next process goes on where the last has ended,
// in whatever way. The file holds no address, which may have a password in it. Several
// processes may call the methods at once.
type Destination struct {
	file boltfile.File
	lock *os.File // nil: not ours
}

// A Cursor is how much of one thing, such as a tape, has arrived.
type Cursor struct {
	Seq     uint64 `json:"seq"`               // what was complete with the frame of this number
	Done    bool   `json:"done,omitempty"`    // all of it, and no more will come
	Turns   uint64 `json:"turns,omitempty"`   // how many
	Refused uint64 `json:"refused,omitempty"` // how much was refused for good, such as spans
	Notes   string `json:"notes,omitempty"`   // a fingerprint of what was written on the tape, where that is delivered too
}

// A Head is what is known of a destination as a whole.
type Head struct {
	Name    string    `json:"name"`              // for people: an address without its secrets
	Begun   bool      `json:"begun,omitempty"`   // to deliver the store, and not single tapes only
	From    time.Time `json:"from,omitzero"`     // what was recorded before is not to be delivered; zero: all is
	Pruned  uint64    `json:"pruned,omitempty"`  // tapes that were deleted before all of them had arrived
	Refusal string    `json:"refusal,omitempty"` // why something was refused for good, the last time
	Trouble string    `json:"trouble,omitempty"` // why nothing arrives; empty once something does
	Since   time.Time `json:"since,omitzero"`    // when that began
}

// In the bucket head the key head has a Head, in the bucket cursors each key has a Cursor:
// both in JSON. A reader passes over members that it does not know.
var (
	bucketHead    = []byte("head")
	bucketCursors = []byte("cursors")
	keyHead       = []byte("head")
)

// lockTimeout is how long to wait for others that read or write the file, which takes them
// milliseconds.
const lockTimeout = 10 * time.Second

func dir(store string) string { return filepath.Join(store, "ship") }

// To returns the destination with an address of a store, which is its directory. It makes
// no file.
func To(store, address string) *Destination {
	sum := sha256.Sum256([]byte(address))
	return at(filepath.Join(dir(store), fmt.Sprintf("%x.db", sum[:6])))
}

// Path returns the file that keeps what has arrived.
func (d *Destination) Path() string { return d.file.Path }

func at(path string) *Destination {
	return &Destination{file: boltfile.File{Path: path, LockTimeout: lockTimeout}}
}

// Destinations returns the destinations that something of a store was delivered to.
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

// Lock makes the caller the one who delivers. ok is false if somebody else is. It holds
// until Unlock, or until the process ends in whatever way.
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

// lockTries is how often a lock is tried that nobody holds: who looks whether somebody
// does holds it meanwhile, and who gives it back removes its file.
const lockTries = 10

// Unlock lets others deliver.
func (d *Destination) Unlock() error {
	lock := d.lock
	d.lock = nil
	return disk.RemoveLocked(lock)
}

// Locked reports whether another process delivers.
func (d *Destination) Locked() bool { return disk.IsLocked(d.lockPath()) }

// Holder returns the number of the process that delivers; 0 if there is none, or if the
// system does not tell.
func (d *Destination) Holder() (pid int) {
	if text, err := os.ReadFile(d.lockPath()); err == nil && d.Locked() {
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return pid
}

func (d *Destination) lockPath() string { return strings.TrimSuffix(d.file.Path, ".db") + ".lock" }

// Read returns the head and all cursors. Of a destination that nothing was delivered to
// it returns none.
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

// Update changes what is kept, durably, all at once or not at all. The store must be there:
// one that was deleted meanwhile stays so.
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

// An Update is a change. What was read before the change is in Head.
type Update struct {
	Head Head

	buckets
	err error
}

// Put writes the cursor of a thing.
func (u *Update) Put(key string, c Cursor) { u.put(u.cursors, []byte(key), c) }

// Forget removes the cursor of a thing.
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

// explain says what to do about a damaged file.
func (d *Destination) explain(err error) error {
	if errors.Is(err, disk.ErrDamaged) {
		return fmt.Errorf("%w; remove it, and what has arrived is delivered again", err)
	}
	return err
}
