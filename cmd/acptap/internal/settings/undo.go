package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/record/disk"
)

// An Undo keeps the original entries in files that only the user can read, because
// settings contain tokens. It also keeps, for people, a copy of each settings file from
// before the first change.
type Undo struct{ Dir string }

// A Record holds an entry before and after the change.
type Record struct {
	Format int       `json:"acptap"`
	Time   time.Time `json:"time"`
	Client string    `json:"client"`
	File   string    `json:"file"`
	Path   []string  `json:"path"`  // of the entry
	Agent  []string  `json:"agent"` // its command

	// The bytes of the entry or, if it was added, those of the object around it.
	Around []string `json:"around,omitempty"` // path of that object
	Before []byte   `json:"before"`
	After  []byte   `json:"after"`
	Pieces []piece  `json:"pieces,omitempty"` // what differs between them

	Added   bool `json:"added,omitempty"`    // there was no such entry
	NewList bool `json:"new_list,omitempty"` // and nothing that contains entries
	NewFile bool `json:"new_file,omitempty"` // and no file
}

// A piece is a run of replaced bytes.
type piece struct {
	Before []byte `json:"before"`
	After  []byte `json:"after"`
}

const recordFormat = 1

// name returns the name of the file of a record.
func (r *Record) name() string {
	return digest(append([]string{r.File}, r.Path...)) + ".json"
}

// whole returns the name of the file that keeps a settings file in its original form.
func whole(file string) string { return digest([]string{file}) + ".before" }

func digest(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Records returns all readable records, oldest first, and an error for the others.
func (u Undo) Records() (list []Record, err error) {
	names, err := filepath.Glob(filepath.Join(u.Dir, "*.json"))
	for _, name := range names {
		data, rerr := os.ReadFile(name)
		var r Record
		if rerr == nil {
			rerr = json.Unmarshal(data, &r)
		}
		if rerr == nil && r.Format != recordFormat {
			rerr = fmt.Errorf("it is of format %d, and this acptap knows only %d", r.Format, recordFormat)
		}
		if rerr != nil {
			err = errors.Join(err, fmt.Errorf("undo record %s: %w", name, rerr))
			continue
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Record) int { return a.Time.Compare(b.Time) })
	return list, err
}

// find returns the record of an entry, or nil if none can be read. Without a record,
// unwrapping edits the present command.
func (u Undo) find(file string, path []string) *Record {
	list, _ := u.Records()
	for _, r := range list {
		if r.File == file && slices.Equal(r.Path, path) {
			return &r
		}
	}
	return nil
}

// put writes records, and a copy of the file unless there is one.
func (u Undo) put(f *File, records []Record) error {
	if len(records) == 0 {
		return nil
	}
	if err := os.MkdirAll(u.Dir, 0o700); err != nil {
		return err
	}
	if path := filepath.Join(u.Dir, whole(f.real)); f.exists && !isFile(path) {
		if err := disk.WriteFile(path, func(w io.Writer) error { return writeAll(w, f.read) }); err != nil {
			return err
		}
	}
	for _, r := range records {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		err = disk.WriteFile(filepath.Join(u.Dir, r.name()), func(w io.Writer) error { return writeAll(w, append(data, '\n')) })
		if err != nil {
			return err
		}
	}
	return nil
}

func writeAll(w io.Writer, data []byte) error {
	_, err := io.Copy(w, bytes.NewReader(data))
	return err
}

// drop removes records, and the copy of a file with its last record.
func (u Undo) drop(records []Record) error {
	var err error
	for _, r := range records {
		if rerr := os.Remove(filepath.Join(u.Dir, r.name())); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	left, lerr := u.Records()
	for _, r := range records {
		if lerr == nil && !slices.ContainsFunc(left, func(l Record) bool { return l.File == r.File }) {
			os.Remove(filepath.Join(u.Dir, whole(r.File)))
		}
	}
	return err
}

// patience limits how long lock waits for another acptap, which holds it for milliseconds.
const patience = 10 * time.Second

// lock prevents other acptaps from changing settings.
func (u Undo) lock() (unlock func(), err error) {
	if err := os.MkdirAll(u.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("no place for what undoes this: %w; use another --store", err)
	}
	path := filepath.Join(u.Dir, "lock")
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		f, err := disk.TryLock(path, true)
		if err != nil {
			return nil, err
		}
		if f != nil {
			disk.RemoveTemps(u.Dir, "", 0) // no other process writes here now
			return func() { disk.RemoveLocked(f) }, nil
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("another acptap has been changing settings for %v (%s); try again", patience, path)
		}
	}
}
