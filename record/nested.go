package record

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/acptap/acptap/record/tapeid"
)

// A tape is nested in another one of the store if the agent on that one, its parent,
// started what is on it. What a tape says of its parent may be anything if it was
// imported: a tape whose parent is not in the store, or is itself below the tape, is
// nested in none.

// ServerName returns what the parent's agent calls what is on a nested tape, else what
// the user calls it.
func (i *Info) ServerName() string { return cmp.Or(i.Start.Parent.Server, i.Start.Name) }

// A Nesting says which tapes are nested in which.
type Nesting struct {
	parents  map[string]string // of nested tapes
	children map[string][]Info
}

// NestingOf returns how tapes, which are sorted by time, are nested in each other.
func NestingOf(tapes []Info) Nesting {
	said := make(map[string]string, len(tapes))
	for i := range tapes {
		said[tapes[i].Tape] = tapes[i].Start.Parent.Tape
	}
	n := Nesting{map[string]string{}, map[string][]Info{}}
	parent := func(tape string) (string, bool) {
		p, ok := said[tape]
		return p, ok
	}
	for i := range tapes {
		tape := tapes[i].Tape
		if p := said[tape]; isNested(tape, parent) {
			n.parents[tape], n.children[p] = p, append(n.children[p], tapes[i])
		}
	}
	return n
}

// maxNested is how many tapes may be nested in each other.
const maxNested = 16

// isNested reports whether a tape is nested in another one. parent returns what a tape
// says its parent is, and whether the tape is there.
func isNested(tape string, parent func(tape string) (above string, there bool)) bool {
	above, _ := parent(tape)
	for depth := range maxNested {
		next, there := parent(above)
		switch {
		case !there:
			return depth > 0
		case above == tape:
			return false
		}
		above = next
	}
	return false
}

// Parent returns the tape that a tape is nested in; "" if there is none.
func (n Nesting) Parent(tape string) string { return n.parents[tape] }

// Children returns the tapes that are nested in a tape, by time.
func (n Nesting) Children(tape string) []Info { return n.children[tape] }

// Below returns the tapes that are nested in a tape or in those, each behind the one
// that it is nested in.
func (n Nesting) Below(tape string) (tapes []Info) {
	for _, child := range n.children[tape] {
		tapes = append(append(tapes, child), n.Below(child.Tape)...)
	}
	return tapes
}

// ServerRefs returns what stands behind the REF of a tape for each of those that are
// nested in it, by time: +NAME, and +NAME~2 for the second start of a server.
func ServerRefs(children []Info) []string {
	started := map[string]int{}
	refs := make([]string, len(children))
	for i := range children {
		name := children[i].ServerName()
		refs[i] = "+" + name
		if started[name]++; started[name] > 1 {
			refs[i] += fmt.Sprintf("~%d", started[name])
		}
	}
	return refs
}

// Outer yields those of the ids of tapes, which are sorted by time, that are nested in
// none, the newest first. It reads no more of a tape than IsNested.
func (s *Store) Outer(ids []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range slices.Backward(ids) {
			if !s.IsNested(id) && !yield(id) {
				return
			}
		}
	}
}

// IsNested reports whether a tape is nested in another one, without a look at the frames.
// A tape that cannot be read is nested in none.
func (s *Store) IsNested(tape string) bool {
	return isNested(tape, func(tape string) (above string, there bool) {
		t, err := s.Open(tape)
		if err != nil {
			return "", false
		}
		start, err := t.Start()
		return start.Parent.Tape, !errors.Is(err, ErrNoTape) // one that cannot be read names none
	})
}

// Start returns what was known of the tape when it began. It reads less than Info. If the
// recorder is just about to write that, Start waits for it.
func (t *Tape) Start() (Start, error) {
	for waited := time.Duration(0); ; waited += headPoll {
		info, _, err := t.from.facts()
		if t.store == nil || !errors.Is(err, ErrNoTape) {
			return info.Start, err
		}
		files := t.store.journal(t.id)
		start, err := files.Start(files.Segments())
		switch {
		case t.store.hasFile(t.id): // sealed between the two looks
			continue
		case err != nil || !start.Time.IsZero():
			return start, err
		case !t.store.hasJournal(t.id): // deleted, or another id was taken
			return start, fmt.Errorf("tape %s: %w", t.id, ErrNoTape)
		case waited >= maxHead, time.Since(tapeid.Time(t.id)) > maxHead && !t.store.isLive(t.id):
			start.Time = tapeid.Time(t.id) // the head is damaged
			return start, nil
		}
		time.Sleep(headPoll)
	}
}

// A recorder takes an id, locks it, creates the journal and writes what the tape is. That
// is a matter of milliseconds, unless the machine is busy.
const (
	headPoll = 2 * time.Millisecond
	maxHead  = time.Second
)
