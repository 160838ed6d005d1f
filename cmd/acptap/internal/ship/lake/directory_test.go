package lake_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/lake"
)

// Files are in their places when they are whole, in the place of those before, and a table
// without rows has none.
func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lake")
	tape, frames := open(t, "../../../../../testdata/tapes/mcp-everything.jsonl")
	first := func(end func(*lake.Writer) error) []string {
		w := lake.NewWriter(lake.Directory(dir), lake.NewBuilder(tape), "v1")
		for i := range frames {
			if err := w.Add(&frames[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := end(w); err != nil {
			t.Fatal(err)
		}
		return files(t, dir)
	}
	if got := first(func(w *lake.Writer) error { w.Discard(); return nil }); len(got) != 0 {
		t.Errorf("discarded: got %q", got)
	}
	want := []string{lake.Name("calls", tape), lake.Name("frames", tape), lake.Name("tools", tape)}
	for range 2 {
		if got := first(func(w *lake.Writer) error { return w.Close(t.Context()) }); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A file that cannot be put into its place leaves nothing behind, and the error names it.
func TestDirectoryFails(t *testing.T) {
	dir := t.TempDir()
	tape, frames := open(t, "../../../../../testdata/tapes/mcp-everything.jsonl")
	if err := os.MkdirAll(filepath.Join(dir, lake.Name("calls", tape)), 0o700); err != nil {
		t.Fatal(err)
	}
	w := lake.NewWriter(lake.Directory(dir), lake.NewBuilder(tape), "v1")
	for i := range frames {
		if err := w.Add(&frames[i]); err != nil {
			t.Fatal(err)
		}
	}
	err := w.Close(t.Context())
	var where *os.LinkError
	if !errors.As(err, &where) {
		t.Errorf("got %v, want the error of a rename", err)
	}
	if got := files(t, dir); !slices.Equal(got, []string{lake.Name("tools", tape)}) {
		t.Errorf("got %q, want only the table before", got)
	}
}

// files returns the names of all files below a directory, with slashes.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
