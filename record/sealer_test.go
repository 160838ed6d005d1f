//go:build linux

package record_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// recordMany writes n journals at once in one process, each a little longer than a
// segment now and then.
func recordMany(t testing.TB, store *record.Store, n int) []*record.Recorder {
	t.Helper()
	var all []*record.Recorder
	for range n {
		all = append(all, beginHTTP(t, store))
	}
	for i, j := range all {
		s := j.Open(wire.HTTP{Method: "GET"})
		j.Head(s, wire.Wire, answer(200, "text/event-stream"))
		for k := range 20 + i%10*500 {
			j.AppendStream(s, wire.AgentToClient, wire.Wire, fmt.Appendf(nil, "data: {\"jsonrpc\":\"2.0\",\"method\":\"m%d\",\"params\":{\"text\":\"%0200d\"}}\n\n", k, i))
		}
		j.Closed("idle")
	}
	return all
}

// closeAll closes all at once.
func closeAll(t testing.TB, all []*record.Recorder) {
	var closing sync.WaitGroup
	for _, j := range all {
		closing.Go(func() {
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closing.Wait()
}

// Many journals of one process are sealed by one worker. Those that it does not reach before
// they are closed stay complete, and are adopted.
func TestManyRecorders(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	all := recordMany(t, store, 60)
	closeAll(t, all)
	late := beginHTTP(t, store) // the worker has ended, and begins anew
	late.Closed("at once")
	if err := late.Close(); err != nil {
		t.Error(err)
	}
	for _, j := range append(all, late) {
		j.Wait()
	}
	sealAll(t, store)
	for i, j := range all {
		info, err := open(t, store, j.Tape()).Info()
		if want := uint64(20 + i%10*500); err != nil || !info.Complete || info.Live || info.Frames != want || info.Closed != "idle" {
			t.Errorf("tape %d of %d frames: %+v, %v", i, want, info, err)
		}
	}
}

// A Recorder may be closed more than once, also while it is being closed.
func TestCloseAgain(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	j.Append(wire.AgentStderr, wire.Wire, []byte("ready\n"))
	closeAll(t, []*record.Recorder{j, j, j})
	j.Wait()
	closeAll(t, []*record.Recorder{j})
	sealAll(t, store)
	if info, err := open(t, store, j.Tape()).Info(); err != nil || info.Live || info.Lines != 1 {
		t.Errorf("got %+v, %v", info, err)
	}
}

// BenchmarkCloseMany closes 200 tapes of one process at once.
func BenchmarkCloseMany(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		store := record.OpenStore(b.TempDir())
		all := recordMany(b, store, 200)
		tasks, _ := os.ReadDir("/proc/self/task")
		files, _ := os.ReadDir("/proc/self/fd")
		b.ReportMetric(float64(len(tasks)), "threads")
		b.ReportMetric(float64(len(files)), "descriptors")
		b.StartTimer()
		began := time.Now()
		closeAll(b, all)
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/close")
		b.StopTimer()
		for _, j := range all {
			j.Wait()
		}
		b.StartTimer()
	}
}
