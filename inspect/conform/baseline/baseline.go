// Package baseline keeps which findings are known already, so that only new ones are
// reported. Its file is JSON Lines, sorted, for a version control system.
package baseline

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/termtext"
)

// An Entry is one fault, as a line of the file.
type Entry struct {
	Key   string `json:"key"`
	Rule  string `json:"rule"`
	Fault string `json:"fault"`
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// A Baseline is a set of faults. The zero value is empty.
type Baseline struct {
	entries   map[string]*Entry
	confirmed map[string]bool
}

// maxLine is how long a line may be, in bytes.
const maxLine = 1 << 20

// Read reads a file. name is used in errors.
func Read(r io.Reader, name string) (*Baseline, error) {
	b := &Baseline{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\uFEFF"))) // an editor on Windows may put that before it
		if len(text) == 0 {
			continue
		}
		var e Entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if e.Key == "" || e.Rule == "" {
			return nil, fmt.Errorf("%s:%d: a line of a baseline has key and rule", name, n)
		}
		b.put(e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func (b *Baseline) put(e Entry) {
	if b.entries == nil {
		b.entries = map[string]*Entry{}
	}
	b.entries[e.Key] = &e
}

// Knows reports whether a fault is known, and notes that it is still there.
func (b *Baseline) Knows(key string) bool {
	if b.entries[key] == nil {
		return false
	}
	if b.confirmed == nil {
		b.confirmed = map[string]bool{}
	}
	b.confirmed[key] = true
	return true
}

// Gone returns the faults that Knows was not asked for.
func (b *Baseline) Gone() []Entry {
	return slices.DeleteFunc(b.sorted(), func(e Entry) bool { return b.confirmed[e.Key] })
}

// Add adds a finding whose key is known. It may not hold what must not leave this
// machine.
func (b *Baseline) Add(f *conform.Finding, key string) {
	if e := b.entries[key]; e != nil {
		e.Count++
		return
	}
	b.put(Entry{Key: key, Rule: f.Rule.ID, Fault: f.Fault.String(), Text: termtext.Piece(About(f)), Count: 1})
}

// Keep adds those faults of an older baseline that Knows was asked for, and those of
// rules that were not judged.
func (b *Baseline) Keep(older *Baseline, judged func(rule string) bool) {
	for key, e := range older.entries {
		if b.entries[key] == nil && (older.confirmed[key] || !judged(e.Rule)) {
			b.put(*e)
		}
	}
}

// Write writes the file, by rule, side and text.
func (b *Baseline) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range b.sorted() {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

// Len returns how many faults there are.
func (b *Baseline) Len() int { return len(b.entries) }

func (b *Baseline) sorted() []Entry {
	var all []Entry
	for _, e := range b.entries {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Fault, y.Fault), cmp.Compare(x.Text, y.Text), cmp.Compare(x.Key, y.Key))
	})
	return all
}
