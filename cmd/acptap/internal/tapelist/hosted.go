package tapelist

import (
	"iter"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace/nested"
)

// Hosted finds the calls of the servers that clients host (type acp), which have no tape of
// their own: they are on those of the agents. Its zero value is ready to use.
type Hosted struct {
	join nested.Join
	of   []Source // of the servers in join
}

// Frames yields the frames of a source that belong to its subject, and follows all of
// them: what is said with a server need not name its session.
func (h *Hosted) Frames(s Source) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		h.join.Next(s.Info.Tape, s.Info.Start.Time)
		for f, err := range s.Part.Tape.Frames(max(s.Part.Run.First, 1)) {
			if err == nil {
				h.join.Pass(&f)
				for len(h.of) < len(h.join.Tapes) {
					h.of = append(h.of, s)
				}
			}
			if (err != nil || s.Subject.Has(s.Part, &f)) && !yield(f, err) {
				return
			}
		}
	}
}

// Servers calls do with what the tapes have of each server: of a session, that is called
// in it.
func (h *Hosted) Servers(do func(t *nested.Tape)) {
	h.join.End()
	for i, t := range h.join.Tapes {
		of := h.of[i]
		isOnly := t.Owner() == "" && of.Info.Sessions == 1
		if want := of.Subject.Session; want == "" || t.Owner() == want || isOnly {
			do(t)
		}
	}
}
