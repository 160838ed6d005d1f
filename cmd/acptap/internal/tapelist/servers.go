package tapelist

import (
	"errors"
	"fmt"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/nested"
)

// Servers calls do with each tape of a server that the agents on tapes have started: of a
// session, that were started for it. It returns why parts of them cannot be read.
func Servers(sources []Source, do func(t *nested.Tape)) (broken []error, err error) {
	var nesting *record.Nesting // of the store, which is one
	for _, s := range sources {
		if s.Subject.Store == nil {
			continue
		}
		if nesting == nil {
			l, err := s.Subject.Store.List()
			if err != nil {
				return broken, err
			}
			n := record.NestingOf(l.Tapes)
			nesting = &n
		}
		servers := nesting.Children(s.Info.Tape)
		if len(servers) == 0 {
			continue
		}
		var links nested.Links
		if s.Subject.Session != "" {
			broken = append(broken, readLinks(&links, s.Part)...)
		}
		for i := range servers {
			session, _ := links.Session(servers[i].Start.Parent.Link)
			if session != s.Subject.Session {
				continue
			}
			t, more, err := readServer(s.Subject.Store, &servers[i])
			broken = append(broken, more...)
			switch {
			case errors.Is(err, record.ErrNoTape): // deleted meanwhile
			case err != nil:
				return broken, fmt.Errorf("tape %s: %w", servers[i].Tape, err)
			default:
				do(t)
			}
		}
	}
	return broken, nil
}

// readLinks reads for which sessions servers were started.
func readLinks(links *nested.Links, p ref.Part) (broken []error) {
	for f, err := range p.Tape.Frames(1) {
		if err != nil {
			broken = append(broken, err)
			continue
		}
		links.Add(&f)
	}
	return broken
}

// readServer reads the tape of a server.
func readServer(store *record.Store, info *record.Info) (t *nested.Tape, broken []error, err error) {
	tape, err := store.Open(info.Tape)
	if err != nil {
		return nil, nil, err
	}
	parent := info.Start.Parent
	t = &nested.Tape{ID: info.Tape, Parent: parent.Tape, Link: parent.Link, Server: info.ServerName(), Start: info.Start.Time}
	for f, err := range tape.Frames(1) {
		if err != nil {
			broken = append(broken, err)
			continue
		}
		t.Add(&f)
	}
	if !info.Live {
		t.End()
	}
	return t, broken, nil
}
