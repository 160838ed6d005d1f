// Package lake turns tapes into tables for engines that read Parquet: turns, tool calls,
// calls and frames. A Builder turns frames into rows; all values come from package trace.
// A Writer writes them to files, one for each table and tape, whose names are Hive
// partitions. The same tape produces the same bytes under the same names, so writing it
// again replaces the files. They contain nothing that was said unless Content is set.
package lake

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
)

// A File is a file that is being written. It appears only with Commit, complete, and never
// after Discard.
type File interface {
	io.Writer
	Commit(ctx context.Context) error
	Discard()
}

// A Destination creates files. Their names are paths with slashes, such as
// table=turns/date=2026-11-22/20261122T101112-7k2m9p.parquet.
type Destination func(name string) (File, error)

// A Writer writes the tables of one tape. Its memory is bounded. It is not safe for
// concurrent use.
type Writer struct {
	rows   *Builder
	turns  table[Turn]
	tools  table[Tool]
	calls  table[Call]
	frames table[Frame]
}

// NewWriter returns a Writer for the rows of a Builder. The caller must call Close or
// Discard. version is that of the program.
func NewWriter(to Destination, rows *Builder, version string) *Writer {
	at := func(table string) place { return place{to, Name(table, rows.tape), version} }
	return &Writer{
		rows:  rows,
		turns: table[Turn]{place: at("turns")}, tools: table[Tool]{place: at("tools")},
		calls: table[Call]{place: at("calls")}, frames: table[Frame]{place: at("frames")},
	}
}

// ContentType is the media type of the files, as registered with IANA.
const ContentType = "application/vnd.apache.parquet"

// Name returns the file name for a table and a tape. The date is that of the tape's start
// in UTC or, if that is unknown, Hive's name for the partition of nulls.
func Name(table string, t Tape) string {
	date := "__HIVE_DEFAULT_PARTITION__"
	if !t.Start.IsZero() {
		date = t.Start.UTC().Format(time.DateOnly)
	}
	return "table=" + table + "/date=" + date + "/" + t.ID + ".parquet"
}

// Add processes the next frame, with its bytes.
func (w *Writer) Add(f *dialect.Frame) error { return w.write(w.rows.Add(f)) }

func (w *Writer) write(rows Rows) error {
	bodies := 0
	for i := range rows.Frames {
		bodies += len(rows.Frames[i].Body)
	}
	return errors.Join(w.turns.add(rows.Turns, 0), w.tools.add(rows.Tools, 0), w.calls.add(rows.Calls, 0), w.frames.add(rows.Frames, bodies))
}

// Close commits the files. A table without rows has no file. After an error some files may
// be committed; each of them is complete.
func (w *Writer) Close(ctx context.Context) error {
	err := w.write(w.rows.End())
	for _, t := range w.tables() {
		if err == nil {
			err = t.finish()
		}
	}
	for _, t := range w.tables() {
		if err == nil {
			err = t.commit(ctx)
		}
	}
	w.Discard()
	return err
}

// Discard removes files that were not committed. It does nothing after Close.
func (w *Writer) Discard() {
	for _, t := range w.tables() {
		t.discard()
	}
}

// A writing is a table with any type of rows.
type writing interface {
	finish() error
	commit(ctx context.Context) error
	discard()
}

func (w *Writer) tables() []writing { return []writing{&w.turns, &w.tools, &w.calls, &w.frames} }
