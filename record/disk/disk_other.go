//go:build !linux

package disk

import (
	"errors"
	"os"
)

// SyncData makes what was written to f durable.
func SyncData(f *os.File) error { return f.Sync() }

// Preallocate is left to the file system.
func Preallocate(*os.File, int64) error { return nil }

// CreateUnnamed creates a file without a name on the disk of dir. Only Linux can.
func CreateUnnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// GiveName gives an unnamed file its name.
func GiveName(*os.File, string) error { return errors.ErrUnsupported }

// Remote returns the name of the file system of dir if locks and memory mapping do not
// work there. It is known only on Linux.
func Remote(string) string { return "" }

// lockHolder returns a process that holds the lock of a file, or 0 if unknown. It is
// known only on Linux.
func lockHolder(*os.File) int { return 0 }
