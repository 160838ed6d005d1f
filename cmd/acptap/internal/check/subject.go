package check

import (
	"fmt"
	"io"
	"iter"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record"
)

// A subject is what is judged.
type subject struct {
	ref.Subject
	file string // that it was read from; empty: none, or stdin
}

// about reports whether a finding is about the subject.
func (s *subject) about(f *conform.Finding) bool {
	return s.Session == "" || f.Session == "" || f.Session == s.Session
}

// subjects yields what the arguments name, or what --all asks for. An error stands for
// what cannot be read.
func (r *run) subjects(dir string, args []string, stdin io.Reader) (iter.Seq2[subject, error], error) {
	if r.all {
		store, l, err := ref.ListStore(dir)
		if err != nil {
			return nil, err
		}
		return r.tapes(store, &l), nil
	}
	if len(args) == 0 {
		args = []string{"last"}
	}
	return func(yield func(subject, error) bool) {
		for _, name := range args {
			s := subject{}
			var err error
			if s.Subject, err = ref.Resolve(dir, name, stdin); err == nil && s.Store == nil && name != "-" {
				s.file = name
			}
			if !yield(s, err) {
				return
			}
		}
	}, nil
}

// tapes yields the selected tapes of the store, the oldest first.
func (r *run) tapes(store *record.Store, l *record.Listing) iter.Seq2[subject, error] {
	return func(yield func(subject, error) bool) {
		for i := range l.Tapes {
			if !r.list.HasTape(&l.Tapes[i]) {
				continue
			}
			t, err := store.Open(l.Tapes[i].Tape)
			if !yield(subject{Subject: ref.Subject{Store: store, Parts: []ref.Part{{Tape: t}}}}, err) {
				return
			}
		}
		for _, b := range l.Broken {
			if !yield(subject{}, fmt.Errorf("tape %s: %w", b.Tape, b.Err)) {
				return
			}
		}
	}
}
