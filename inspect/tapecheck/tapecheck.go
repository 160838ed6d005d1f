// Package tapecheck judges tapes: it feeds a conform.Checker with what record has. It
// knows which tapes begin with their connection, and where acptap stood between.
package tapecheck

import (
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// Options returns what a Checker has to know beforehand of tapes that it judges in
// succession. There is at least one.
func Options(tapes ...*record.Tape) (conform.Options, error) {
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
		o.Between = o.Between || between(t, &info)
	}
	return o, nil
}

// Beginning reports whether the first frame of a tape is the first that passed on its
// connection. What was imported may be a part of a tape.
func Beginning(i *record.Info) bool { return !i.Imported }

// between reports whether acptap has made, changed or withheld frames of a tape, or may
// still do so.
func between(t *record.Tape, i *record.Info) bool {
	if i.Live || i.Rules > 0 {
		return true
	}
	for f, err := range t.Rows(1) {
		if err == nil && f.Origin != wire.Wire {
			return true
		}
	}
	return false
}
