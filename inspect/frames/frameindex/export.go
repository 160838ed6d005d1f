package frameindex

import (
	"context"
	"io"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/redact"
)

// Export writes, in the portable form, the readable frames of the agent's tapes that want
// accepts. damage is the last error that made frames unreadable.
func Export(ctx context.Context, w io.Writer, t *Timeline, want Matcher, info record.Info) (frames int, damage, err error) {
	secrets := make(map[*record.Tape]*redact.Redaction)
	for _, p := range t.agents {
		secrets[p.Tape] = p.Tape.Redaction()
	}
	head := portable.Head{Tape: info.Tape, Start: info.Start, Needs: info.Needs(), Notes: t.notes()}
	e, err := portable.NewExporter(w, head, secrets[t.agents[0].Tape])
	if err != nil {
		return 0, nil, err
	}
	want.Timeline = t
	var current *record.Tape
	for frame, err := range t.frames(1) {
		if ctx.Err() != nil {
			return frames, damage, ctx.Err()
		}
		if t.PartOf(frame.Seq) >= len(t.agents) {
			continue // of a server
		}
		if err != nil {
			damage = err
			continue
		}
		if !want.Matches(t.PartOf(frame.Seq), &frame) {
			continue
		}
		tape, f := t.OnItsTape(frame)
		if !secrets[tape].Knows(&f) {
			continue
		}
		frames++
		if tape != current {
			current, e.Secrets = tape, secrets[tape]
			if e.Notes, err = tape.Notes(); err != nil {
				damage = err
			}
		}
		if err := e.Write(tape, f); err != nil {
			return frames, damage, err
		}
	}
	return frames, damage, e.Close()
}

// notes returns the notes that belong to whole tapes. It ignores unreadable ones: Export
// reports them when it reaches their frames.
func (t *Timeline) notes() note.List {
	var all []note.List
	for _, p := range t.agents {
		l, _ := p.Tape.Notes()
		all = append(all, l)
	}
	return note.OnTapes(all...)
}
