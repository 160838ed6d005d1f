package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/acptap/acptap/record/disk"
)

// A File is a settings file with the contents that were read.
type File struct {
	Path string // as given
	real string // with links resolved

	exists bool
	info   fs.FileInfo
	read   []byte // nil if it does not exist
}

// Open reads a settings file. If it does not exist, the error is fs.ErrNotExist.
func Open(path string) (*File, error) {
	f := &File{Path: path}
	var err error
	if f.real, err = filepath.EvalSymlinks(path); err != nil {
		if link, lerr := os.Readlink(path); lerr == nil {
			return nil, fmt.Errorf("%s is a link to %s, which cannot be followed (%w); mend the link, or name the file with --file", path, link, cause(err))
		}
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	if f.real, err = filepath.Abs(f.real); err != nil {
		return nil, err
	}
	if f.info, err = os.Stat(f.real); err != nil {
		return nil, err
	}
	if !f.info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	if f.info.Size() > maxSize {
		return nil, fmt.Errorf("%s has more than %d MiB, so it holds no settings", path, maxSize>>20)
	}
	f.read, err = os.ReadFile(f.real)
	f.exists = true
	return f, err
}

func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// absent returns a file to create. Its directory must exist: otherwise the client is not
// installed, or keeps its settings elsewhere.
func absent(path string) (*File, error) {
	real, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(real)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no directory %s; if the client is installed, start it once, or mkdir %s; if it has its settings elsewhere, name them with --file", dir, shellWord(dir))
	}
	return &File{Path: path, real: real}, nil
}

// check returns an error if the file cannot be replaced.
func (f *File) check() error {
	if !f.exists {
		return nil
	}
	fails := func(why string) error { return fmt.Errorf("%s %s; nothing was changed", f.Path, why) }
	if f.info.Mode().Perm()&0o200 == 0 {
		return fails("is read-only; change it in the tool that writes it (Nix, chezmoi, …), or chmod u+w it")
	}
	if names := hardLinks(f.info); names > 1 {
		return fails(fmt.Sprintf("has %d names (hard links), and only this one would be changed; edit it by hand", names))
	}
	if other, err := disk.OwnedByOther(f.real); err != nil || other {
		return fails("belongs to another user; edit it as that user")
	}
	if err := disk.CheckWritable(filepath.Dir(f.real)); err != nil {
		return fails(fmt.Sprintf("cannot be replaced: %v", err))
	}
	return nil
}

// errChanged means that another program wrote the file after it was read.
var errChanged = errors.New("was changed by another program meanwhile; nothing was changed here; try again")

// write atomically replaces the file with data, or removes it if data is nil. It keeps
// the mode, and fails if the file has changed since it was read.
func (f *File) write(data []byte) error {
	if err := f.check(); err != nil {
		return err
	}
	// An acptap with another store may be writing the file too, but not for so long.
	disk.RemoveTemps(filepath.Dir(f.real), filepath.Base(f.real)+disk.TempSuffix, patience)
	if data == nil {
		if err := f.unchanged(); err != nil {
			return err
		}
		return os.Remove(f.real)
	}
	temp, err := disk.CreateTemp(f.real)
	if err != nil {
		return fmt.Errorf("%s cannot be replaced: %w; nothing was changed", f.Path, err)
	}
	defer os.Remove(temp.Name())
	if _, err = temp.Write(data); err == nil && f.exists {
		err = temp.Chmod(f.info.Mode().Perm())
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return fmt.Errorf("writing %s: %w; nothing was changed", f.Path, err)
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	return disk.Rename(temp.Name(), f.real)
}

// unchanged returns an error if the file has changed since it was read.
func (f *File) unchanged() error {
	now, err := os.ReadFile(f.real)
	switch {
	case !f.exists && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || !f.exists || !bytes.Equal(now, f.read):
		return fmt.Errorf("%s %w", f.Path, errChanged)
	}
	return nil
}
