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

// CreateUnnamed makes a file on the disk of dir that has no name. Only Linux can.
func CreateUnnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// GiveName gives an unnamed file its name.
func GiveName(*os.File, string) error { return errors.ErrUnsupported }

// Remote reports the name of the file system of dir if locks and memory
// mapping do not hold there. Only Linux tells.
func Remote(string) string { return "" }

// lockHolder returns a process that has the lock of a file, 0 if none is known.
// Only Linux tells.
func lockHolder(*os.File) int { return 0 }
