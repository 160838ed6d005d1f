package otlp

import (
	"io"
	"slices"

	"github.com/acptap/acptap/record/trace/spans"
)

// Lines writes requests as OTLP/JSON, one per line, as the collector's file exporter does
// (OpenTelemetry Protocol File Exporter).
type Lines struct {
	W       io.Writer
	Encoder Encoder
	Signals []Signal
	Meter   spans.Meter // of Metrics

	waiting Spans
	spans   int // in waiting
	records Records
}

// Write writes a set, but may delay it. A request has at most MaxSpans spans, or one set
// that has more.
func (l *Lines) Write(set spans.Set) error {
	if l.spans+len(set.Spans) > MaxSpans {
		if err := l.Close(); err != nil {
			return err
		}
	}
	l.waiting, l.spans = append(l.waiting, set), l.spans+len(set.Spans)
	return nil
}

// Record writes a record, but may delay it.
func (l *Lines) Record(r spans.Record) error {
	if l.records = append(l.records, r); len(l.records) < MaxRecords {
		return nil
	}
	return l.Close()
}

// Close writes what was delayed. It does not close W.
func (l *Lines) Close() error {
	if slices.Contains(l.Signals, Traces) {
		if err := l.line(l.waiting); err != nil {
			return err
		}
	}
	if slices.Contains(l.Signals, Metrics) {
		for _, set := range l.waiting {
			l.Meter.Add(set)
		}
		if err := l.line(Points{l.Meter.Take(), l.Meter.Cumulative}); err != nil {
			return err
		}
	}
	err := l.line(l.records)
	l.waiting, l.spans, l.records = l.waiting[:0], 0, l.records[:0]
	return err
}

// line writes a request unless it is empty.
func (l *Lines) line(r Request) error {
	if r.Len() == 0 {
		return nil
	}
	_, err := l.W.Write(append(l.Encoder.JSON(r), '\n'))
	return err
}
