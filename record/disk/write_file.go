package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// TempSuffix marks an unfinished file. If one persists, a killed process left it behind.
const TempSuffix = ".new-"

// CreateTemp creates an empty file next to path, which only the user can read.
func CreateTemp(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), filepath.Base(path)+TempSuffix)
}

// RemoveTemps removes what killed processes left in dir of files whose names begin with
// prefix. It keeps files younger than age, which may still be written.
func RemoveTemps(dir, prefix string, age time.Duration) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		i := strings.LastIndex(e.Name(), TempSuffix)
		if i < 0 || !strings.HasPrefix(e.Name()[:i+len(TempSuffix)], prefix) || strings.Trim(e.Name()[i+len(TempSuffix):], "0123456789") != "" {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= age {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// WriteFile writes a file that only the user can read. The file appears, or replaces an
// existing one, when write has returned and everything is on disk, or not at all.
// WriteFile follows a symbolic link. It writes directly to anything but a regular file,
// such as a device or a pipe.
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
			return err // a broken link
		}
	}
	f, err := CreateTemp(path)
	var failed *fs.PathError
	switch {
	case errors.As(err, &failed): // its path is that of the temporary file
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

// Rename durably moves a complete file into place.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// writeTo writes to an existing file, device or pipe.
func writeTo(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
