// Package rpc reads and compares the JSON-RPC messages of a replay: it exchanges lines with
// the other side, yields the messages of a line and of a recorded frame, and matches
// recorded messages whose secrets were removed.
package rpc

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Each calls do for the message in f, or for each entry if f is a batch. It skips
// marks, stderr and lines that are no message.
func Each(f *dialect.Frame, do func(f *dialect.Frame, e wire.Envelope)) {
	switch f.Kind {
	case wire.Request, wire.Response, wire.Notification:
		do(f, wire.Scan(f.Raw))
	case wire.Oversized:
		do(f, wire.ScanPrefix(f.Raw))
	case wire.Batch:
		wire.Entries(f.Raw, func(i int, raw []byte) bool {
			if i == len(f.Entries) {
				return false
			}
			e := wire.Scan(raw)
			entry := dialect.Frame{Frame: f.Frame, Annotation: f.Entries[i]}
			entry.Kind, entry.Raw, entry.Failed, entry.Size = e.Kind, raw, dialect.Failed(e, &f.Entries[i]), int64(len(raw))
			do(&entry, e)
			return true
		})
	}
}

// EachIn calls do for the message in a line, or for each entry if the line is a batch. It
// returns the kind of the line.
func EachIn(line []byte, do func(message []byte, e wire.Envelope)) wire.Kind {
	e := Scan(line)
	if e.Kind != wire.Batch {
		do(line, e)
		return e.Kind
	}
	wire.Entries(line, func(_ int, entry []byte) bool {
		do(entry, wire.Scan(entry))
		return true
	})
	return e.Kind
}

// Lasting removes the fields that change with each run: ids that one side made up.
func Lasting(fields []dialect.Field) []dialect.Field {
	return slices.DeleteFunc(fields, func(f dialect.Field) bool {
		switch f.Class {
		case dialect.Plain, dialect.FilePath, dialect.ChoiceID, dialect.Version:
			return false
		}
		return true
	})
}
