//go:build linux

package record

import (
	"path/filepath"
	"testing"
)

// Who finds no room in a segment leaves it to those that have it open already.
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
	if !isStill(f, path) {
		t.Error("the segment that is open is gone")
	}
}
