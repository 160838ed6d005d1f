package redact

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"sort"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Redaction removes the secrets from the frames of one tape: those that Frame and Mark
// find in one frame, and those that an agent sent in pieces, since streamed text is cut
// anywhere. Call Read with all frames first, in order; then call Frame with any of them.
type Redaction struct {
	key     Key
	streams streams
	pieces  map[uint64][]span            // spans in the text, by frame
	copies  map[[sha256.Size]byte]uint64 // frames with pieces, by their bytes
	last    uint64
	unread  []span // ranges of frame numbers that were skipped: what precedes their text is unknown
	ended   bool   // all frames were read
}

// NewRedaction returns a Redaction that makes pseudonyms with key.
func NewRedaction(key Key) *Redaction {
	r := &Redaction{key: key, pieces: make(map[uint64][]span), copies: make(map[[sha256.Size]byte]uint64)}
	r.streams.found = func(p *piece, at span) {
		r.pieces[p.seq] = append(r.pieces[p.seq], at)
		if p.sum != ([sha256.Size]byte{}) {
			r.copies[p.sum] = p.seq
		}
	}
	return r
}

// Read handles the next frame of the tape. It does not keep f.
func (r *Redaction) Read(f *dialect.Frame) {
	if f.Seq > r.last+1 {
		r.unread = append(r.unread, span{int(r.last + 1), int(f.Seq)})
	}
	r.last = f.Seq
	if !f.Redelivered { // a copy is looked up by its bytes
		r.streams.add(f)
	}
}

// Knows reports whether a frame had been recorded when the tape was read: a later one may
// continue a secret. A nil Redaction knows all frames.
func (r *Redaction) Knows(f *dialect.Frame) bool { return r == nil || f.Seq <= r.last }

// A Source has all bytes of the frames whose Raw is only their beginning, as record.Tape
// does.
type Source interface {
	WriteFrame(w io.Writer, seq uint64) error
}

// Frame returns a frame of the tape t without its secrets, with all of its bytes: Raw,
// Lead and Derived may differ from those of f, and Size is the original number of bytes.
// A frame of more than MaxSize bytes is not searched; Frame replaces it with a text
// saying so.
func (r *Redaction) Frame(t Source, f dialect.Frame) (dialect.Frame, error) {
	r.end()
	part := int64(len(f.Raw)) < f.Size
	if part && f.Size <= MaxSize {
		var whole bytes.Buffer // the search needs the whole frame
		whole.Grow(int(f.Size) + bytes.MinRead)
		if err := t.WriteFrame(&whole, f.Seq); err != nil {
			return f, err
		}
		f.Raw = whole.Bytes()
	}
	if part && f.Derived {
		f.Lead, f.Derived = nil, false // only its beginning is available
	}
	f = r.withoutSecrets(f)
	if part && f.Size > MaxSize {
		f.Raw = fmt.Appendf(nil, "[redacted: a frame of %d bytes]", f.Size)
	}
	return f, nil
}

func (r *Redaction) withoutSecrets(f dialect.Frame) dialect.Frame {
	was := f.Raw
	switch f.Kind {
	case wire.Mark:
		f.Raw = r.key.Mark(was)
	default:
		f.Raw = r.bytes(&f)
	}
	if f.Stream == 0 {
		return f
	}
	now := f.Raw
	f.Raw = was
	lead, ok := r.key.Lead(&f.Frame, now)
	f.Raw, f.Lead = now, lead
	if !ok {
		f.Lead, f.Derived = nil, false
	}
	return f
}

// end finishes the reading.
func (r *Redaction) end() {
	if r.ended {
		return
	}
	r.ended = true
	r.streams.end()
	for seq, all := range r.pieces {
		r.pieces[seq] = joined(all)
	}
}

// bytes returns the bytes of a frame without secrets. Text that comes in pieces is judged
// as a whole: neither "token = nex" nor "t()" has a secret.
func (r *Redaction) bytes(f *dialect.Frame) []byte {
	t, ok := streamed(f)
	seq, read := r.readAs(f)
	if !ok || !read {
		return Frame(f.Kind, f.Raw)
	}
	raw := t.replaced(r.pieces[seq])
	if t.at < 0 {
		return redactText(raw)
	}
	var message redactor
	if !isJSONText(t.text) { // otherwise going by member names finds more
		message.settled = t.at
	}
	return message.redact(raw, aMessage, "")
}

// readAs returns the number under which Read recorded the text of a frame: for a
// redelivered frame, that of the original. ok is false if Read did not record it.
func (r *Redaction) readAs(f *dialect.Frame) (seq uint64, ok bool) {
	if f.Redelivered {
		seq, ok = r.copies[sha256.Sum256(f.Raw)]
		return seq, ok
	}
	i := sort.Search(len(r.unread), func(i int) bool { return r.unread[i].to > int(f.Seq) })
	return f.Seq, i == len(r.unread) || int(f.Seq) < r.unread[i].from
}
