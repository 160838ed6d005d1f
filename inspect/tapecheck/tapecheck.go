// Package tapecheck judges tapes: it feeds a conform.Checker from record. It knows which
// tapes start with their connection, and where acptap changed frames.
package tapecheck

import (
	"context"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// Options returns the options of a Checker for consecutive tapes, at least one. It may read
// all their frames, and stops when ctx is done.
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

// Beginning reports whether frame 1 of a tape is the first of its connection: a proxy
// recorded the tape, and wrote its version. An exported part of a tape keeps the version
// and the frame numbers, so it does not start with frame 1. A file by hand or from another
// tool may start anywhere.
func Beginning(i *record.Info) bool { return i.Start.Version != "" }

// between reports whether acptap made, changed or withheld frames of a tape, or may still
// do so. The result is meaningless once ctx is done.
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
