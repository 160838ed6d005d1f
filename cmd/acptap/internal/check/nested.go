package check

import (
	"context"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/tapetext"
)

// servers judges the tapes of the servers that the agent of a subject has started, and of
// their servers, each once. Their sections are named REF+NAME.
func (r *run) servers(ctx context.Context, sub ref.Subject) error {
	for _, p := range sub.Parts {
		reader, err := sub.Reader(true, p)
		if err != nil {
			return err
		}
		for _, server := range reader.Servers() {
			if r.judged[server.Info.Tape] {
				continue
			}
			one := ref.Subject{Store: sub.Store, Parts: []ref.Part{{Tape: server.Tape}}}
			if err := r.subject(ctx, one, tapetext.ShortID(p.Tape.ID())+"+"+server.Server); err != nil {
				return err
			}
		}
	}
	return nil
}
