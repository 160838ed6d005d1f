package otlp

import (
	"io"

	"github.com/acptap/acptap/record/trace/spans"
)

// Lines writes requests as OTLP/JSON, one a line, as the collector's file exporter does
// (OpenTelemetry Protocol File Exporter).
type Lines struct {
	W       io.Writer
	Encoder Encoder

	waiting []spans.Set
	spans   int // in waiting
}

// Write writes a set, possibly not before the next ones: a request has MaxSpans, or one
// set that has more.
func (l *Lines) Write(set spans.Set) error {
	if l.spans+len(set.Spans) > MaxSpans {
		if err := l.Close(); err != nil {
			return err
		}
	}
	l.waiting, l.spans = append(l.waiting, set), l.spans+len(set.Spans)
	return nil
}

// Close writes what is not written yet. It does not close W.
func (l *Lines) Close() error {
	if l.spans == 0 {
		return nil
	}
	line, err := l.Encoder.JSON(l.waiting)
	if err != nil {
		return err
	}
	l.waiting, l.spans = l.waiting[:0], 0
	_, err = l.W.Write(append(line, '\n'))
	return err
}
