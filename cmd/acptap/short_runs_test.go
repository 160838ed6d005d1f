//go:build linux

package main

import (
	"flag"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
)

var shorts = flag.Int("shorts", 0, "how many proxies TestShortRuns runs; 0: a few, and no look at the clock")

// busy keeps a processor busy until the test, or this process, ends or the function that it returns
// is called.
func busy(t *testing.T) (stop func()) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while kill -0 $PPID; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	t.Cleanup(stop)
	return stop
}

// Runs that end at once do not pile up, on a loaded machine either: their tapes
// are sealed, and nothing is left behind.
func TestShortRuns(t *testing.T) {
	const (
		traffic = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}` + "\n"
		maxWaiting = 50
		maxList    = 300 * time.Millisecond
	)
	n := *shorts
	if n == 0 {
		n = 24
	}
	store := record.OpenStore(filepath.Join(t.TempDir(), "store"))
	stops := []func(){busy(t), busy(t)}
	var group sync.WaitGroup
	var next atomic.Int64
	for range 2 {
		group.Go(func() {
			for next.Add(1) <= int64(n) && !t.Failed() {
				cmd := exec.Command("acptap", "--store", store.Dir(), "proxy", "--", "cat")
				cmd.Stdin = strings.NewReader(traffic)
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != traffic {
					t.Errorf("got %q, %v", out, err)
				}
			}
		})
	}
	group.Wait()
	for _, stop := range stops {
		stop()
	}
	waiting, _ := filepath.Glob(filepath.Join(store.Dir(), "live", "*.lock"))
	if len(waiting) > maxWaiting {
		t.Errorf("%d tapes of %d are not sealed, more than %d", len(waiting), n, maxWaiting)
	}
	began := time.Now()
	if err := exec.Command("acptap", "--store", store.Dir(), "ls").Run(); err != nil {
		t.Error(err)
	}
	took := time.Since(began)
	if *shorts > 0 && took > maxList {
		t.Errorf("acptap ls took %v, longer than %v", took, maxList)
	}
	t.Logf("of %d tapes %d are not sealed; acptap ls took %v", n, len(waiting), took)
	filepath.WalkDir(store.Dir(), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || strings.Contains(path, ".new-") {
			t.Errorf("left behind: %s, %v", path, err)
		}
		return nil
	})
	if l, err := store.List(); err != nil || len(l.Tapes) != n || len(l.Broken) > 0 {
		t.Errorf("listed %d tapes of %d, broken %v: %v", len(l.Tapes), n, l.Broken, err)
	}
}
