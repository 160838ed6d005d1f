package tapelist

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// A Subjects is what a command operates on: its arguments, all tapes of the store, or
// those that flags select.
type Subjects struct {
	Selection
	Everything bool // without arguments: all tapes of the store, not only the newest

	all bool
}

// Register adds the flags --all, --agent and --since. Each selects tapes of the store and
// excludes arguments.
func (s *Subjects) Register(f *pflag.FlagSet) {
	all := "all tapes of the store"
	if s.Everything {
		all += ", as without REF"
	}
	f.BoolVar(&s.all, "all", false, all)
	s.Selection.Register(f)
}

// Check checks the flags, and that they do not come with arguments.
func (s *Subjects) Check(args []string) error {
	if s.Flagged() && len(args) > 0 {
		return fmt.Errorf("%q is one argument too many: --all, --agent and --since say which tapes", args[0])
	}
	return s.Parse(time.Now())
}

// Flagged reports whether a flag selects tapes of the store.
func (s *Subjects) Flagged() bool { return s.all || !s.IsZero() }

// ofStore reports whether to use tapes of the store instead of the arguments.
func (s *Subjects) ofStore(args []string) bool {
	return s.Flagged() || s.Everything && len(args) == 0
}

// Each yields the subjects: those that the arguments name, or the selected tapes of the
// store in dir, oldest first. It yields an error for each one that cannot be read.
func (s *Subjects) Each(dir string, args []string, stdin io.Reader) (iter.Seq2[ref.Subject, error], error) {
	if s.ofStore(args) {
		store, l, err := ref.ListStore(dir)
		return func(yield func(ref.Subject, error) bool) { s.tapes(store, &l, yield) }, err
	}
	if len(args) == 0 {
		args = []string{"last"}
	}
	return func(yield func(ref.Subject, error) bool) {
		for _, name := range args {
			if !yield(ref.Resolve(dir, name, stdin)) {
				return
			}
		}
	}, nil
}

// tapes yields the selected tapes of a store.
func (s *Subjects) tapes(store *record.Store, l *record.Listing, yield func(ref.Subject, error) bool) {
	for i := range l.Tapes {
		if !s.HasTape(&l.Tapes[i]) {
			continue
		}
		t, err := store.Open(l.Tapes[i].Tape)
		if errors.Is(err, record.ErrNoTape) { // deleted in the meantime
			continue
		}
		if !yield(ref.Subject{Store: store, Parts: []ref.Part{{Tape: t}}}, err) {
			return
		}
	}
	for _, b := range l.Broken {
		if !yield(ref.Subject{}, fmt.Errorf("tape %s: %w", b.Tape, b.Err)) {
			return
		}
	}
}

// Find returns all subjects, and errors for tapes of the store that cannot be read. It
// fails if an argument names nothing.
func (s *Subjects) Find(dir string, args []string, stdin io.Reader) (found []ref.Subject, broken []error, err error) {
	subjects, err := s.Each(dir, args, stdin)
	if err != nil {
		return nil, nil, err
	}
	for sub, err := range subjects {
		switch {
		case err == nil:
			found = append(found, sub)
		case s.ofStore(args):
			broken = append(broken, err)
		default:
			return nil, nil, err
		}
	}
	return found, broken, nil
}

// Reader returns a reader of the subjects' tapes in time order. It reads each tape once:
// a tape that is read whole covers its sessions. It also reads the tapes of their servers
// and, with all, those of the servers' servers.
func Reader(subjects []ref.Subject, all bool) (*reading.Reader, error) {
	var list []reading.Part
	seen := map[string]bool{} // tapes, and tapes with sessions
	for _, sub := range subjects {
		agents, err := sub.Agents(sub.Parts...)
		if err != nil {
			return nil, err
		}
		for _, p := range agents {
			key := p.Info.Tape + "\x00" + p.Session
			if p.Store != nil && seen[key] {
				continue
			}
			seen[key] = p.Store != nil // files may have any id
			list = append(list, p)
		}
	}
	list = slices.DeleteFunc(list, func(p reading.Part) bool { return p.Session != "" && seen[p.Info.Tape+"\x00"] })
	slices.SortStableFunc(list, func(a, b reading.Part) int { return a.Info.Start.Time.Compare(b.Info.Start.Time) })
	r := reading.New(list)
	return r, r.AddServers(all)
}
