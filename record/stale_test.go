//go:build linux

package record

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/journal"
)

// A journal that had one segment when it was listed, and whose first segments were sealed
// before it is recovered, leaves nothing behind: if the tape were deleted later, no one could
// read the rest.
func TestRecoverGrownJournal(t *testing.T) {
	dir := t.TempDir()
	line := strings.Repeat("x", journal.RecordSize-1)
	tape := leaveJournal(t, dir, slices.Repeat([]string{line}, 6*journal.SegmentSize/len(line))...)
	store := OpenStore(dir)
	files := store.journal(tape)
	isSealed := func() bool { return !disk.Exists(files.Segment(journal.SegmentSize)) }
	if err := store.recoverTape(tape, files.Segments(), true, isSealed); !errors.Is(err, io.ErrNoProgress) {
		t.Fatalf("sealing until the second segment is gone: %v", err)
	}
	if len(files.Segments()) == 0 {
		t.Fatal("all of the journal is sealed already")
	}
	if err := store.recoverTape(tape, []int64{0}, true, func() bool { return false }); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(store.live()); err != nil || len(left) > 0 {
		t.Errorf("left in live/: %v, %v", left, err)
	}
	opened, err := store.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := opened.Info(); err != nil || !info.Complete {
		t.Errorf("the tape is complete: %t, %v", info.Complete, err)
	}
}
