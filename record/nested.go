package record

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/tapeid"
)

// A tape is nested in its parent if the agent on the parent started what is on the tape. An
// imported tape may claim any parent: that counts if an Importer has imported both, or if
// the parent has its link. A tape whose parent is not in the store, or is itself nested in
// the tape, is nested in none.

// proven returns the id of a parent, or "" if there is none or it is merely claimed.
func proven(p Parent) string {
	if p.Claimed {
		return ""
	}
	return p.Tape
}

// ServerName returns the name of the server on a nested tape: the parent agent's, or else
// the user's.
func (i *Info) ServerName() string { return cmp.Or(i.Start.Parent.Server, i.Start.Name) }

// A Nesting says which tapes are nested in which.
type Nesting struct {
	parents  map[string]string // of nested tapes
	children map[string][]Info
}

// NestingOf returns the nesting of tapes, which must be sorted by time.
func NestingOf(tapes []Info) Nesting {
	said := make(map[string]string, len(tapes))
	for i := range tapes {
		said[tapes[i].Tape] = proven(tapes[i].Start.Parent)
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

// maxNested bounds the depth of nesting.
const maxNested = 16

// isNested reports whether a tape is nested in another. parent returns the parent that a
// tape claims, and whether the tape exists.
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

// Parent returns the tape that a tape is nested in, or "" if there is none.
func (n Nesting) Parent(tape string) string { return n.parents[tape] }

// Children returns the tapes nested in a tape, by time.
func (n Nesting) Children(tape string) []Info { return n.children[tape] }

// Below returns the tapes nested in a tape, directly or not, each after its parent.
func (n Nesting) Below(tape string) (tapes []Info) {
	for _, child := range n.children[tape] {
		tapes = append(append(tapes, child), n.Below(child.Tape)...)
	}
	return tapes
}

// ServerRefs returns the suffix of a tape's REF for each tape nested in it, by time: +NAME,
// and +NAME~2 for the second start of a server.
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

// Outer yields the ids of tapes that are neither nested nor empty, and not of acptap probe,
// newest first. ids must be sorted by time. Outer reads no more than the beginning of each
// tape.
func (s *Store) Outer(ids []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range slices.Backward(ids) {
			if !s.IsNested(id) && !s.isProbe(id) && !s.isEmpty(id) && !yield(id) {
				return
			}
		}
	}
}

// isEmpty reports whether a tape has ended without any traffic: the agent could not be
// started, or acptap was killed first.
func (s *Store) isEmpty(tape string) bool {
	t, err := s.Open(tape)
	if err != nil || s.isLive(tape) {
		return false
	}
	for f, err := range t.Frames(1) {
		exit := wire.ReadMark(f.Frame).Exit
		return err == nil && exit != nil && exit.Error != ""
	}
	return true
}

// IsNested reports whether a tape is nested in another one, without reading frames. An
// unreadable tape counts as not nested.
func (s *Store) IsNested(tape string) bool {
	return isNested(tape, func(tape string) (above string, there bool) {
		t, err := s.Open(tape)
		if err != nil {
			return "", false
		}
		start, err := t.Start()
		return proven(start.Parent), !errors.Is(err, ErrNoTape) // an unreadable tape names no parent
	})
}

// Start returns what was known about the tape when it began. It reads less than Info. If the
// recorder is still writing that, Start waits.
func (t *Tape) Start() (Start, error) {
	for waited := time.Duration(0); ; waited += headPoll {
		info, _, err := t.from.facts()
		if t.store == nil || !errors.Is(err, ErrNoTape) {
			return info.Start, err
		}
		files := t.store.journal(t.id)
		start, err := files.Start(files.Segments())
		switch {
		case t.store.hasFile(t.id): // sealed in between
			continue
		case err != nil || !start.Time.IsZero():
			return start, err
		case !t.store.hasJournal(t.id): // deleted, or the recorder chose another id
			return start, fmt.Errorf("tape %s: %w", t.id, ErrNoTape)
		case waited >= maxHead, time.Since(tapeid.Time(t.id)) > maxHead && !t.store.isLive(t.id):
			start.Time = tapeid.Time(t.id) // the head is damaged
			return start, nil
		}
		time.Sleep(headPoll)
	}
}

// A recorder takes an id, locks it, creates the journal and writes the head. That takes
// milliseconds, unless the machine is busy.
const (
	headPoll = 2 * time.Millisecond
	maxHead  = time.Second
)
