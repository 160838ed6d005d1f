// Package ship delivers what was recorded, as spans, metrics and logs, to a collector
// of OpenTelemetry. The tapes are what waits to be sent: nothing else is kept of it but how
// much of each tape has arrived (Destination). What was sent when a shipper ended in
// the middle of it is sent again, with the same ids.
package ship

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/spans"
)

// ErrNoStart says that a tape has no spans, as nobody knows when it began.
var ErrNoStart = errors.New("nobody knows when the tape began, so its spans have no times: write started into its header")

// TapeOf says what spans need to know of a tape before its frames, without the secrets that
// package redact finds there.
func TapeOf(t *record.Tape, info *record.Info) (spans.Tape, error) {
	clean := info.Redacted()
	tape := spans.Tape{
		ID: clean.Tape, Start: clean.Start.Time, Name: clean.Start.Name, Parent: clean.Start.Parent.Tape, Transport: clean.Start.Transport,
		Connection: clean.Connection,
	}
	var err error
	if tape.ID == "" {
		tape.ID, err = hashedID(t)
	}
	return tape, err
}

// hashedID returns an id for what has none, such as a tape written by hand: a hash of its
// frames.
func hashedID(t *record.Tape) (string, error) {
	h := sha256.New()
	for f, err := range t.Frames(1) {
		if err != nil {
			continue // told of when it is read again
		}
		if _, err := fmt.Fprintf(h, "%d %d %d ", f.Seq, f.Dir, len(f.Raw)); err != nil {
			return "", err
		}
		if _, err := h.Write(f.Raw); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("sha256-%x", h.Sum(nil)[:8]), nil
}

// Frames yields the frames that spans are made of: without secrets, if they are to tell
// what was said.
func Frames(t *record.Tape, content bool) iter.Seq2[dialect.Frame, error] {
	if content {
		return t.Redacted()
	}
	return t.Frames(1)
}
