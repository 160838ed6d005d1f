package stall_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// TestBegunOnly: a tape is announced once its recorder has written what it is, not when it
// has only created the journal.
func TestBegunOnly(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := recordtest.Record(t, store, record.Start{Command: []string{"x"}, Name: "agent"})
	files, err := filepath.Glob(filepath.Join(store.Dir(), "live", j.Tape()+".0000000000000000"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got journals %q, %v", files, err)
	}
	segment, err := os.OpenFile(files[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer segment.Close()
	head := make([]byte, 4<<10)
	if _, err := segment.ReadAt(head, 0); err != nil {
		t.Fatal(err)
	}
	write := func(head []byte) {
		t.Helper()
		if _, err := segment.WriteAt(head, 0); err != nil {
			t.Error(err)
		}
	}
	write(make([]byte, len(head)))
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(100*time.Millisecond, func() { write(head) })
		tapes := stall.Tapes{Store: store}
		var told []string
		for _, kind := range []record.ChangeKind{record.TapeAppeared, record.StoreLooked} {
			tapes.Take(&record.Change{Kind: kind, Tape: j.Tape(), Live: true}, time.Now(), func(t *stall.Tape, _ record.ChangeKind, _ []stall.Change) {
				told = append(told, t.Agent())
			})
		}
		if len(told) != 1 || told[0] != "agent" {
			t.Errorf("got %q, want agent once", told)
		}
	})
}
