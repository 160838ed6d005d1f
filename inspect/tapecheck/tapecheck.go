// Package tapecheck judges tapes: it feeds a conform.Checker with what record has. It
// knows which tapes begin with their connection, and where acptap stood between.
package tapecheck

import (
	"context"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// Options returns what a Checker has to know beforehand of tapes that it judges in
// succession. There is at least one. It may look at all of their frames: if ctx is done,
// so is Options.
func Options(ctx context.Context, tapes ...*record.Tape) (conform.Options, error) {
	var o conform.Options
	for i, t := range tapes {
		info, err := t.Info()
		if err != nil {
			return o, err
		}
		if i == 0 {
			o.Beginning = Beginning(&info)
			o.Protocol = info.Connection.Protocol
		}
		o.Between = o.Between || between(ctx, t, &info)
	}
	return o, context.Cause(ctx)
}

// Beginning reports whether frame 1 of a tape is the first that passed on its connection:
// a proxy recorded it, and named its version. An exported tape keeps the version and the
// numbers of its frames, so a part of it does not begin with frame 1. A file that somebody
// wrote, or another tool, may begin anywhere.
func Beginning(i *record.Info) bool { return i.Start.Version != "" }

// between reports whether acptap has made, changed or withheld frames of a tape, or may
// still do so. Once ctx is done the answer means nothing.
func between(ctx context.Context, t *record.Tape, i *record.Info) bool {
	if i.Live || i.Rules > 0 {
		return true
	}
	for f, err := range t.Rows(1) {
		if ctx.Err() != nil || err == nil && f.Origin != wire.Wire {
			return true
		}
	}
	return false
}
