package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// TempSuffix marks a file that is not in its place yet. One that stays was left by
// a process that ended meanwhile.
const TempSuffix = ".new-"

// CreateTemp makes an empty file beside path, which only the user can read.
func CreateTemp(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), filepath.Base(path)+TempSuffix)
}

// WriteFile makes a file that only the user can read. It appears when write is
// done and all is on the disk, or not at all, in the place of one that is there. A symbolic link stays,
// and leads to it then. What is no file, such as a device or a pipe, is written to.
func WriteFile(path string, write func(io.Writer) error) error {
	switch fi, err := os.Stat(path); {
	case err == nil && !fi.Mode().IsRegular():
		return writeTo(path, write)
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	default:
		if _, lerr := os.Lstat(path); lerr == nil {
			return err // a link that leads nowhere
		}
	}
	f, err := CreateTemp(path)
	var failed *fs.PathError
	switch {
	case errors.As(err, &failed): // it has a name that nobody has asked for
		return fmt.Errorf("making %s: %w", path, failed.Err)
	case err != nil:
		return err
	}
	defer os.Remove(f.Name())
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return Rename(f.Name(), path)
}

// Rename puts a file that is whole into its place, durably.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// writeTo writes to what stays what it is.
func writeTo(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
