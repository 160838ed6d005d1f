//go:build linux

package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// waiting returns a store with n tapes that were not sealed when they ended.
func waiting(t testing.TB, n int) *record.Store {
	t.Helper()
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	j.Append(wire.ClientToAgent, wire.Wire, []byte(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`+"\n"))
	j.Append(wire.AgentToClient, wire.Wire, []byte(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}`+"\n"))
	j.Exit(0, nil, [wire.Directions]int64{})
	killed := orphan(t, store)
	finish(t, store, j)
	live := filepath.Join(killed.Dir(), "live")
	first := readFile(t, segmentsOf(t, killed)[0])
	for i := range n - 1 {
		tape := fmt.Sprintf("20260102T150405000-%06d", i)
		segment := filepath.Join(live, tape+".0000000000000000")
		writeFile(t, segment, first)
		rewriteHead(t, segment, j.Tape(), tape)
		writeFile(t, filepath.Join(live, tape+".lock"), nil)
	}
	return killed
}

// A directory is read once, and not for each tape that waits in it.
func TestManyWaiting(t *testing.T) {
	n := 320 // seconds, if a directory is read for each
	store := waiting(t, n)
	began := time.Now()
	l, err := store.List()
	if err != nil || len(l.Tapes) != n || len(l.Broken) > 0 || len(l.Sessions) != n {
		t.Errorf("listed %d tapes with %d sessions of %d, %v: %v", len(l.Tapes), len(l.Sessions), n, l.Broken, err)
	}
	t.Logf("%d tapes that wait are listed in %v", n, time.Since(began))
	began = time.Now()
	if err := store.Recover(func() bool { return false }, nil); err != nil {
		t.Error(err)
	}
	t.Logf("and recovered in %v", time.Since(began))
	if left, err := os.ReadDir(filepath.Join(store.Dir(), "live")); err != nil || len(left) > 0 {
		t.Errorf("left in live/: %v, %v", left, err)
	}
	l, err = store.List()
	if err != nil || len(l.Tapes) != n || !strings.HasPrefix(l.Tapes[0].Tape, "20260102") || !l.Tapes[0].Complete {
		t.Errorf("listed %d tapes of %d: %v", len(l.Tapes), n, err)
	}
}
