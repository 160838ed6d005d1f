//go:build linux

package record

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// A journal is sealed while one of those that its proxy recovers at its start is still being
// sealed.
func TestEarlyRecoveryIsNotWaitedFor(t *testing.T) {
	store := OpenStore(t.TempDir())
	if err := store.make(); err != nil {
		t.Fatal(err)
	}
	for i := range manyWaiting + 1 {
		if err := os.WriteFile(store.lockFile(fmt.Sprintf("20260102T150405000-%06d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, err := newRecorder(store, "20260102T150405000-000000", Start{}, time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Append(wire.AgentToClient, wire.Wire, []byte("long\n")); err != nil {
		t.Fatal(err)
	}
	first.Writer.Close()
	first.Release()
	sealing, recovering, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(done) })
	t.Cleanup(release)
	told, taken := sync.OnceFunc(func() { close(sealing) }), sync.OnceFunc(func() { close(recovering) })
	store.testHook = func(payload []byte) {
		switch {
		case bytes.HasPrefix(payload, []byte("long")):
			taken()
			<-done
		case bytes.HasPrefix(payload, []byte("own")):
			told()
		}
	}
	j := record1(t, store)
	<-recovering
	for range journal.SegmentSize/journal.RecordSize + 1 {
		j.Append(wire.AgentToClient, wire.Wire, []byte("own"+strings.Repeat("x", journal.RecordSize-4)+"\n"))
	}
	select {
	case <-sealing:
	case <-time.After(2 * time.Minute):
		t.Error("it waits for the other one")
	}
	release()
	closeJournal(t, j)
}
