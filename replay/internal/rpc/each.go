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
