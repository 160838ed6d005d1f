package check

import (
	"context"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/nested"
)

// servers judges the tapes of the servers that the agent of a subject has started, and of
// those that these have, each once. Their sections name them as REF+NAME.
func (r *run) servers(ctx context.Context, sub ref.Subject) error {
	if sub.Store == nil { // one file is one tape
		return nil
	}
	l, err := sub.Store.List()
	if err != nil {
		return err
	}
	nesting := record.NestingOf(l.Tapes)
	for _, p := range sub.Parts {
		if err := r.below(ctx, sub.Store, nesting, p.Tape.ID(), tapetext.ShortID(p.Tape.ID()), startedIn(&sub, p)); err != nil {
			return err
		}
	}
	return nil
}

// startedIn returns a function that reports whether a server was started for the session
// that the subject is; for any, if it is a whole tape.
func startedIn(sub *ref.Subject, p ref.Part) func(*record.Info) bool {
	if sub.Session == "" {
		return func(*record.Info) bool { return true }
	}
	var links nested.Links
	for f, err := range p.Tape.Frames(1) {
		if err == nil { // else it was told when the tape was judged
			links.Add(&f)
		}
	}
	return func(i *record.Info) bool {
		session, ok := links.Session(i.Start.Parent.Link)
		return ok && session == sub.Session
	}
}

// below judges what is nested in a tape that people know by a name.
func (r *run) below(ctx context.Context, store *record.Store, n record.Nesting, tape, name string, wanted func(*record.Info) bool) error {
	children := n.Children(tape)
	for i, behind := range record.ServerRefs(children) {
		id := children[i].Tape
		if !wanted(&children[i]) || r.judged[id] {
			continue
		}
		t, err := store.Open(id)
		if err == nil {
			err = r.subject(ctx, ref.Subject{Store: store, Parts: []ref.Part{{Tape: t}}}, name+behind)
		}
		if err != nil {
			return err
		}
		all := func(*record.Info) bool { return true }
		if err := r.below(ctx, store, n, id, name+behind, all); err != nil {
			return err
		}
	}
	return nil
}
