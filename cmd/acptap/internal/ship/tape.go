// Package ship delivers recordings as spans, metrics and logs to an OpenTelemetry
// collector. The tapes themselves are the queue: the only other state is how much of each
// tape has arrived (Destination). Whatever a killed shipper was sending is sent again,
// with the same ids.
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

// ErrNoStart means that a tape has no start time, so that its spans would have no times.
var ErrNoStart = errors.New("the tape does not say when it began, so its spans would have no times: add started to its header")

// TapeOf returns the facts about a tape that spans need, without secrets.
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

// hashedID returns a hash of the frames as the id of a tape without one, such as a tape
// written by hand.
func hashedID(t *record.Tape) (string, error) {
	h := sha256.New()
	for f, err := range t.Frames(1) {
		if err != nil {
			continue // reported when it is read again
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

// Frames yields the frames from which to make spans, redacted if the spans include
// content.
func Frames(t *record.Tape, content bool) iter.Seq2[dialect.Frame, error] {
	if content {
		return t.Redacted()
	}
	return t.Frames(1)
}
