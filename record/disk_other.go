//go:build !linux

package record

import (
	"errors"
	"os"
)

// dataSync makes what was written to f durable.
func dataSync(f *os.File) error { return f.Sync() }

// preallocate is left to the file system.
func preallocate(*os.File, int64) error { return nil }

// openUnnamed makes a file on the disk of dir that has no name. Only Linux can.
func openUnnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// giveName gives an unnamed file its name.
func giveName(*os.File, string) error { return errors.ErrUnsupported }

// yieldToTraffic gives other goroutines precedence; here the scheduler decides.
func yieldToTraffic() {}

// remoteDisk reports the name of the file system of dir if locks and memory
// mapping do not hold there. Only Linux tells.
func remoteDisk(string) string { return "" }

// lockHolder returns a process that has the lock of a file, 0 if none is known.
// Only Linux tells.
func lockHolder(*os.File) int { return 0 }
