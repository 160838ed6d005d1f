package tapelist

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
)

// Subjects are what a command is about: what its arguments name, or all tapes of the
// store, or those that flags select.
type Subjects struct {
	Selection
	all bool
}

// Register adds the flags --all, --agent and --since. Each of them means tapes of the
// store in place of arguments.
func (s *Subjects) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.all, "all", false, "all tapes of the store")
	s.Selection.Register(cmd.Flags())
}

// Find finds the subjects, and the tapes that cannot be read: those of the arguments, of
// the newest tape if there are none, or of the store in dir as the flags ask for, the
// oldest first.
func (s *Subjects) Find(dir string, args []string, stdin io.Reader) (found []ref.Subject, broken []record.Broken, err error) {
	if err := s.Parse(time.Now()); err != nil {
		return nil, nil, err
	}
	if !s.all && s.IsZero() {
		if len(args) == 0 {
			args = []string{"last"}
		}
		for _, name := range args {
			sub, err := ref.Resolve(dir, name, stdin)
			if err != nil {
				return nil, nil, err
			}
			found = append(found, sub)
		}
		return found, nil, nil
	}
	if len(args) > 0 {
		return nil, nil, fmt.Errorf("%q is one argument too many: --all, --agent and --since say which tapes", args[0])
	}
	store, l, err := ref.ListStore(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range l.Tapes {
		if !s.HasTape(&i) {
			continue
		}
		t, err := store.Open(i.Tape)
		switch {
		case errors.Is(err, record.ErrNoTape): // deleted meanwhile
		case err != nil:
			l.Broken = append(l.Broken, record.Broken{Tape: i.Tape, Err: err})
		default:
			found = append(found, ref.Subject{Store: store, Parts: []ref.Part{{Tape: t}}})
		}
	}
	return found, l.Broken, nil
}

// A Source is a tape of which something is to be read.
type Source struct {
	Info    record.Info
	Part    ref.Part
	Subject ref.Subject // that it is a part of
}

// Sources returns the tapes of subjects by time, each once: a session on a tape which is
// read as a whole is in it.
func Sources(subjects []ref.Subject) ([]Source, error) {
	var list []Source
	seen := map[string]bool{} // tapes, and tapes with sessions
	for _, sub := range subjects {
		for _, p := range sub.Parts {
			info, err := p.Tape.Info()
			if err != nil {
				return nil, err
			}
			key := info.Tape + "\x00" + sub.Session
			if sub.Store != nil && seen[key] {
				continue
			}
			seen[key] = sub.Store != nil // files may have any id
			list = append(list, Source{info, p, sub})
		}
	}
	list = slices.DeleteFunc(list, func(s Source) bool { return s.Subject.Session != "" && seen[s.Info.Tape+"\x00"] })
	slices.SortStableFunc(list, func(a, b Source) int { return a.Info.Start.Time.Compare(b.Info.Start.Time) })
	return list, nil
}
