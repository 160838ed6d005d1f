package frameindex

import (
	"context"
	"io"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/portable"
)

// Export writes the frames of a timeline that want matches and that can be read in the
// portable form. damage says what could not be read last.
func Export(ctx context.Context, w io.Writer, t *Timeline, want Matcher, info record.Info) (frames int, damage, err error) {
	e, err := portable.NewExporter(w, info.Tape, info.Start, info.Needs(), false)
	if err != nil {
		return 0, nil, err
	}
	for frame, err := range t.frames(1) {
		if ctx.Err() != nil {
			return frames, damage, ctx.Err()
		}
		if err != nil {
			damage = err
			continue
		}
		if !want.Matches(t.PartOf(frame.Seq), &frame) {
			continue
		}
		frames++
		if err := e.Write(t.OnItsTape(frame)); err != nil {
			return frames, damage, err
		}
	}
	return frames, damage, e.Close()
}
