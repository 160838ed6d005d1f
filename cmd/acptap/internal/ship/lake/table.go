package lake

import (
	"context"
	"fmt"

	"github.com/parquet-go/parquet-go"
)

// A place says where to write a table.
type place struct {
	to      Destination
	name    string
	version string // of the program that writes it
}

// A table is the file for one table and tape. The first rows create it.
type table[T any] struct {
	place
	file File
	out  *parquet.GenericWriter[T]
	rows []T // not written yet
	held int // bytes of bodies in rows
	body int // bytes of bodies in the current row group
}

// Limits on what is held in memory. Engines read one row group at a time per thread, and
// DuckDB advises 100,000 rows or more.
const (
	maxRows       = 1 << 8
	maxHeld       = 1 << 20
	rowsOfGroup   = 1 << 17
	bodiesOfGroup = 64 << 20
)

// add adds rows. bodies is the size of their bodies.
func (t *table[T]) add(rows []T, bodies int) error {
	t.rows = append(t.rows, rows...)
	t.held += bodies
	if len(t.rows) < maxRows && t.held < maxHeld {
		return nil
	}
	return t.flush()
}

// flush writes the rows.
func (t *table[T]) flush() error {
	if len(t.rows) == 0 {
		return nil
	}
	if t.file == nil {
		file, err := t.to(t.name)
		if err != nil {
			return err
		}
		t.file = file
		t.out = parquet.NewGenericWriter[T](file, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("acptap", t.version, ""),
			parquet.MaxRowsPerRowGroup(rowsOfGroup), parquet.SkipPageBounds("body"), parquet.SkipPageStatistics("body"))
	}
	_, err := t.out.Write(t.rows)
	t.body += t.held
	clear(t.rows)
	t.rows, t.held = t.rows[:0], 0
	if err == nil && t.body > bodiesOfGroup {
		t.body, err = 0, t.out.Flush()
	}
	return t.located(err)
}

// finish writes the rest, but does not commit the file.
func (t *table[T]) finish() error {
	if err := t.flush(); err != nil || t.out == nil {
		return err
	}
	return t.located(t.out.Close())
}

// commit commits the file.
func (t *table[T]) commit(ctx context.Context) error {
	if t.file == nil {
		return nil
	}
	err := t.file.Commit(ctx)
	t.file = nil
	return t.located(err)
}

// discard removes the file unless it was committed.
func (t *table[T]) discard() {
	if t.file != nil {
		t.file.Discard()
		t.file = nil
	}
}

func (t *table[T]) located(err error) error {
	if err != nil {
		return fmt.Errorf("writing %s: %w", t.name, err)
	}
	return nil
}
