package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/termtext"
)

// A Baseline is the file of a baseline, as it is and as it may become.
type Baseline struct {
	file   string // empty: there is none
	update bool
	old    *baseline
	now    *baseline // of the current findings
}

// OpenBaseline reads a baseline. If it is updated, the file may be missing; an empty name
// stands for an empty one.
func OpenBaseline(file string, update bool) (*Baseline, error) {
	b := &Baseline{file: file, update: update, old: &baseline{}, now: &baseline{}}
	if file == "" {
		return b, nil
	}
	f, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && update:
		return b, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w; --update-baseline makes it", err)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	b.old, err = parseBaseline(f, file)
	return b, err
}

// Take sets whether a finding is known and, if it has none yet, its key. If it is reported,
// the baseline may get it.
func (b *Baseline) Take(f *report.Finding, reported bool) {
	if f.Key == "" {
		f.Key = faultKey(f.Shared())
	}
	known := b.old.Knows(f.Key) // it is still there even if it is not reported
	f.Known = f.Known || known && !b.update
	if reported {
		b.now.Add(f.Shared(), f.Key)
	}
}

// End rewrites the file, or tells which of its faults are gone. It keeps known faults of
// rules that were not judged: a run of a few rules must not drop the others.
func (b *Baseline) End(stderr io.Writer, judged func(rule string) bool) error {
	if b.update {
		b.now.Keep(b.old, judged)
		if err := disk.WriteFile(b.file, func(w io.Writer) error { return b.now.Write(w) }); err != nil {
			return err
		}
		fmt.Fprintf(stderr, "%s: %s\n", b.file, termtext.Counted(b.now.Len(), "known fault"))
		return nil
	}
	for _, e := range b.old.Gone() {
		if judged(e.Rule) {
			fmt.Fprintf(stderr, "%s: %s is not there any more; --update-baseline drops it: %s\n", b.file, termtext.Line(e.Rule), termtext.Line(e.Text))
		}
	}
	return nil
}

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
