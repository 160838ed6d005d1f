// Package disk has the files of a store: they are opened without following a
// link, locked between processes, and made durable, on each of the systems that
// acptap runs on. It knows nothing of what is in them, but that it has a format.
//
// Locks are those of the operating system: they end with the process that holds
// them. They do not hold on file systems that Remote names.
package disk

import (
	"errors"
	"fmt"
	"os"
)

// Errors by which callers decide. They come wrapped, with the place.
var (
	ErrDamaged = errors.New("damaged")
	ErrNewer   = errors.New("written by a newer acptap; update acptap to read it")
)

var errNotRegular = fmt.Errorf("no regular file: %w", ErrDamaged)

// Format is raised when a reader of the older form could misread what is
// on disk. It stands in journals, tapes and the catalogue.
const Format = 1

// Exists reports whether path leads to anything, a broken link included.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
