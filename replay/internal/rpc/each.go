// Package rpc reads and compares the JSON-RPC messages of a replay: it exchanges lines with
// the other side, yields the messages of a line, and matches
// recorded messages whose secrets were removed.
package rpc

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

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
