package lake

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/acptap/acptap/record/disk"
)

// Directory returns a Destination for files below dir, which it creates if necessary. Only
// the user can read them.
func Directory(dir string) Destination {
	return func(name string) (File, error) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		f, err := disk.CreateTemp(path)
		if err != nil {
			return nil, err
		}
		return &file{f, path}, nil
	}
}

// A file has a temporary name until Commit.
type file struct {
	*os.File
	path string
}

// Commit renames the file to its final name, durably.
func (f *file) Commit(context.Context) error {
	err := errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = disk.Rename(f.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Discard removes what was written.
func (f *file) Discard() {
	f.Close()
	os.Remove(f.Name())
}
