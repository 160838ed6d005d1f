// Package lake turns tapes into tables, for engines that read Parquet: turns, tool calls,
// calls and frames. A Builder makes rows of frames; it says of each what trace says, and
// computes nothing of its own. A Writer puts them into files, one for each table and tape,
// whose names are partitions as Hive has them. The same tape gives the same bytes under the
// same names, so that writing it again replaces what was there. Nothing that was said is in
// them unless Content asks for it.
package lake

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
)

// A File is one that is being written. It is in its place after Commit, whole, and not
// there before it or after Discard.
type File interface {
	io.Writer
	Commit(ctx context.Context) error
	Discard()
}

// A Destination begins files. Their names are paths with slashes, such as
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

// NewWriter returns a Writer of the rows that a Builder makes, for Close or Discard to end.
// version is that of the program.
func NewWriter(to Destination, rows *Builder, version string) *Writer {
	at := func(table string) place { return place{to, Name(table, rows.tape), version} }
	return &Writer{
		rows:  rows,
		turns: table[Turn]{place: at("turns")}, tools: table[Tool]{place: at("tools")},
		calls: table[Call]{place: at("calls")}, frames: table[Frame]{place: at("frames")},
	}
}

// ContentType is the media type of the files, which is registered with IANA.
const ContentType = "application/vnd.apache.parquet"

// Name returns the name of the file of a table and a tape. The date is that of the tape's
// start in UTC; of an unknown one it is what Hive calls the partition of nulls.
func Name(table string, t Tape) string {
	date := "__HIVE_DEFAULT_PARTITION__"
	if !t.Start.IsZero() {
		date = t.Start.UTC().Format(time.DateOnly)
	}
	return "table=" + table + "/date=" + date + "/" + t.ID + ".parquet"
}

// Add takes the next frame, with its bytes.
func (w *Writer) Add(f *dialect.Frame) error { return w.write(w.rows.Add(f)) }

func (w *Writer) write(rows Rows) error {
	bodies := 0
	for i := range rows.Frames {
		bodies += len(rows.Frames[i].Body)
	}
	return errors.Join(w.turns.add(rows.Turns, 0), w.tools.add(rows.Tools, 0), w.calls.add(rows.Calls, 0), w.frames.add(rows.Frames, bodies))
}

// Close puts the files into their places. A table without rows has none. After an error
// some may be in their places: each is whole.
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

// Discard leaves nothing behind that is not in its place. It does nothing after Close.
func (w *Writer) Discard() {
	for _, t := range w.tables() {
		t.discard()
	}
}

// A writing is a table whatever its rows are.
type writing interface {
	finish() error
	commit(ctx context.Context) error
	discard()
}

func (w *Writer) tables() []writing { return []writing{&w.turns, &w.tools, &w.calls, &w.frames} }
