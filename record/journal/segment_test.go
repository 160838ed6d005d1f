//go:build linux

package journal

import (
	"os"
	"path/filepath"
	"testing"
)

// A writer that finds no room in a segment leaves it to those that have it open already.
func TestSegmentWithoutRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment")
	f, err := createSegment(path, pageSize)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if more, err := createSegment(path, 1<<62); err == nil {
		more.Close()
		t.Skip("the file system reserves nothing")
	}
	if a, err := f.Stat(); err != nil {
		t.Error(err)
	} else if b, err := os.Stat(path); err != nil || !os.SameFile(a, b) {
		t.Error("the segment that is open is gone")
	}
}
