package dialect

import (
	"bytes"

	"github.com/acptap/acptap/proxy/wire"
)

// Messages yields the message in f, or each annotated entry of a batch as a frame of its
// own, with its envelope. It yields nothing for marks, stderr and lines that are not
// messages.
func (f *Frame) Messages(yield func(m *Frame, e wire.Envelope) bool) {
	switch f.Kind {
	case wire.Request, wire.Response, wire.Notification:
		yield(f, wire.Scan(f.Raw))
	case wire.Oversized:
		e := wire.ScanPrefix(f.Raw)
		if bytes.HasSuffix(f.Raw, e.ID) {
			e.ID = nil // it may be only the first half
		}
		yield(f, e)
	case wire.Batch:
		wire.Entries(f.Raw, func(i int, raw []byte) bool {
			if i == len(f.Entries) {
				return false
			}
			m, e := &Frame{Frame: f.Frame, Annotation: f.Entries[i]}, wire.Scan(raw)
			m.Kind, m.Raw, m.Size, m.Failed = e.Kind, raw, int64(len(raw)), Failed(e, &m.Annotation)
			return yield(m, e)
		})
	}
}
