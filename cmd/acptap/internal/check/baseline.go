package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/termtext"
)

// An entry is one fault: a line of the file.
type entry struct {
	Key   string `json:"key"`
	Rule  string `json:"rule"`
	Fault string `json:"fault"`
	Text  string `json:"text"`
	Count int    `json:"count"`

	confirmed bool // found again
}

// A baseline lists the known faults, so that only new ones are reported. Its file is sorted
// JSON Lines, suitable for version control. The zero value is empty.
type baseline struct {
	entries map[string]*entry
}

// parseBaseline reads a baseline file. name is for errors.
func parseBaseline(r io.Reader, name string) (*baseline, error) {
	b := &baseline{}
	return b, eachLine(r, name, func(line string) error {
		if strings.TrimSpace(line) == "" {
			return nil
		}
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return err
		}
		if e.Key == "" || e.Rule == "" {
			return errors.New("a line of a baseline has key and rule")
		}
		b.put(e)
		return nil
	})
}

func (b *baseline) put(e entry) {
	if b.entries == nil {
		b.entries = map[string]*entry{}
	}
	b.entries[e.Key] = &e
}

// Knows reports whether a fault is known, and notes that it is still there.
func (b *baseline) Knows(key string) bool {
	e := b.entries[key]
	if e != nil {
		e.confirmed = true
	}
	return e != nil
}

// Gone returns the faults that were not found again.
func (b *baseline) Gone() []entry {
	return slices.DeleteFunc(b.sorted(), func(e entry) bool { return e.confirmed })
}

// Add adds a finding with its key. The finding must be redacted.
func (b *baseline) Add(f *conform.Finding, key string) {
	if e := b.entries[key]; e != nil {
		e.Count++
		return
	}
	b.put(entry{Key: key, Rule: f.Rule.ID, Fault: f.Fault.String(), Text: termtext.Piece(aboutFault(f)), Count: 1})
}

// Keep adds the faults of an older baseline that were found again, and those of rules
// that were not judged.
func (b *baseline) Keep(older *baseline, judged func(rule string) bool) {
	for key, e := range older.entries {
		if b.entries[key] == nil && (e.confirmed || !judged(e.Rule)) {
			b.put(*e)
		}
	}
}

// Write writes the file, sorted by rule, side and text.
func (b *baseline) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range b.sorted() {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

// Len returns the number of faults.
func (b *baseline) Len() int { return len(b.entries) }

func (b *baseline) sorted() []entry {
	var all []entry
	for _, e := range b.entries {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Fault, y.Fault), cmp.Compare(x.Text, y.Text), cmp.Compare(x.Key, y.Key))
	})
	return all
}
