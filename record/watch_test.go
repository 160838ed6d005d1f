//go:build linux

package record_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

func allFrames(string, bool) (uint64, bool) { return 1, true }

// A watching takes the changes of a store in a test, one by one.
type watching struct {
	t     testing.TB
	next  func() (record.Change, error, bool)
	lines map[string][]line // frames, by tape
	told  map[string]string // what else was told of a tape
}

func watch(t testing.TB, store *record.Store, wanted func(string, bool) (uint64, bool)) *watching {
	t.Helper()
	return watchOf(t, func(ctx context.Context) iter.Seq2[record.Change, error] { return store.Watch(ctx, wanted) })
}

func watchOf(t testing.TB, changes func(context.Context) iter.Seq2[record.Change, error]) *watching {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	next, stop := iter.Pull2(changes(ctx))
	t.Cleanup(func() {
		stop()
		cancel()
	})
	return &watching{t: t, next: next, lines: map[string][]line{}, told: map[string]string{}}
}

// until takes changes until one fits.
func (w *watching) until(what string, fits func(c record.Change) bool) record.Change {
	w.t.Helper()
	for {
		c, err, ok := w.next()
		switch {
		case !ok:
			w.t.Fatalf("%s never came", what)
		case err != nil:
			w.t.Fatalf("%s: %v", c.Tape, err)
		case c.Kind == record.FrameRecorded:
			w.lines[c.Tape] = append(w.lines[c.Tape], lineOf(c.Frame))
		case c.Kind == record.TapeAppeared && c.Live:
			w.told[c.Tape] += "began "
		case c.Kind == record.TapeAppeared:
			w.told[c.Tape] += "there "
		case c.Kind == record.TapeEnded:
			w.told[c.Tape] += "ended "
		case c.Kind == record.TapeDeleted:
			w.told[c.Tape] += "deleted "
		}
		if fits(c) {
			return c
		}
	}
}

func (w *watching) looked() {
	w.t.Helper()
	w.until("a look", func(c record.Change) bool { return c.Kind == record.StoreLooked })
}

func (w *watching) kind(kind record.ChangeKind, tape string) {
	w.t.Helper()
	w.until(fmt.Sprintf("change %d of %s", kind, tape), func(c record.Change) bool { return c.Kind == kind && c.Tape == tape })
}

// A store that is watched from before it is there: a tape begins, is sealed while
// it is followed, ends, and is deleted. Each frame comes once.
func TestWatch(t *testing.T) {
	store := record.OpenStore(t.TempDir() + "/store")
	w := watch(t, store, allFrames)
	w.looked()
	j := begin(t, store)
	tape := j.Tape()
	w.kind(record.TapeAppeared, tape)
	gen := newTraffic(1)
	for range 20_000 {
		dir, p := gen.next()
		j.Append(dir, wire.Wire, p)
		if gen.n%5_000 == 0 {
			w.until("what was said", func(record.Change) bool { return len(w.lines[tape]) == gen.n })
		}
	}
	finish(t, store, j)
	w.kind(record.TapeEnded, tape)
	same(t, "watched", w.lines[tape], lines(t, open(t, store, tape)))
	if _, err := store.Delete(tape); err != nil {
		t.Fatal(err)
	}
	w.kind(record.TapeDeleted, tape)
	if got, want := w.told[tape], "began ended deleted "; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// Watching one tape: existing frames, a look, new frames, and finally the end.
func TestWatchTape(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	other := begin(t, store)
	j := begin(t, store)
	tape := open(t, store, j.Tape())
	gen := newTraffic(2)
	say := func(n int) {
		for range n {
			dir, p := gen.next()
			j.Append(dir, wire.Wire, p)
		}
	}
	say(100)
	w := watchOf(t, func(ctx context.Context) iter.Seq2[record.Change, error] { return tape.Watch(ctx, 0) })
	before := time.Now()
	c := w.until("a look", func(c record.Change) bool { return c.Kind == record.StoreLooked })
	if len(w.lines[tape.ID()]) != 100 || c.Began.Before(before) || c.Tape != tape.ID() {
		t.Errorf("%d frames before the look %+v", len(w.lines[tape.ID()]), c)
	}
	say(100)
	w.until("what was said", func(record.Change) bool { return len(w.lines[tape.ID()]) == 200 })
	other.Close()
	finish(t, store, j)
	w.kind(record.TapeEnded, tape.ID())
	same(t, "watched", w.lines[tape.ID()], lines(t, open(t, store, tape.ID())))
	if c, err, ok := w.next(); ok {
		t.Errorf("behind the end: %+v, %v", c, err)
	}
}

// Existing tapes come first, oldest first; only the wanted tapes are yielded, and their
// frames start at the wanted number.
func TestWatchThere(t *testing.T) {
	store, first, _, want := sealedTape(t, 4000)
	second := begin(t, store)
	second.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
	killed := orphan(t, store)
	finish(t, store, second)
	for _, s := range []*record.Store{store, killed} {
		w := watch(t, s, func(tape string, live bool) (uint64, bool) {
			if live {
				t.Errorf("%s is said to be live", tape)
			}
			return 3000, tape == first
		})
		w.looked()
		same(t, "from 3000 on", w.lines[first], want[2999:])
		if got := w.told; len(got) != 2 || got[first] != "there ended " || got[second.Tape()] != "there " || len(w.lines) != 1 {
			t.Errorf("told %q", got)
		}
	}
}

// A tape whose proxy is killed while it is watched, and which is adopted then,
// gives each frame once.
func TestWatchKilled(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	w := watch(t, store, allFrames)
	p := play(t, "record", store.Dir(), "9", "100000000")
	tape := p.line(t)
	w.until("some frames", func(record.Change) bool { return len(w.lines[tape]) >= 5000 })
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	sealAll(t, store)
	w.kind(record.TapeEnded, tape)
	same(t, "watched", w.lines[tape], lines(t, open(t, store, tape)))
	if got, want := w.told[tape], "began ended "; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// Fifty tapes that begin and end at random, some while no one looks, are each yielded once,
// with each of their frames.
func TestWatchMany(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	w := watch(t, store, allFrames)
	var group sync.WaitGroup
	var mu sync.Mutex
	var ids []string
	for i := range 50 {
		group.Go(func() {
			j, err := store.Record(record.Start{Command: []string{"agent"}})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			ids = append(ids, j.Tape())
			mu.Unlock()
			gen := newTraffic(uint64(i))
			for range i * 40 {
				dir, p := gen.next()
				if err := j.Append(dir, wire.Wire, p); err != nil {
					t.Error(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			j.Wait()
		})
	}
	all := make(chan struct{})
	go func() {
		group.Wait()
		close(all)
	}()
	w.until("the end of all", func(c record.Change) bool {
		select {
		case <-all:
		default:
			return false
		}
		ended := 0
		for _, told := range w.told {
			ended += strings.Count(told, "ended")
		}
		return c.Kind == record.StoreLooked && len(w.told) == len(ids) && ended == len(ids)
	})
	if len(ids) != 50 || len(w.told) != 50 {
		t.Fatalf("%d tapes were told of %d", len(w.told), len(ids))
	}
	for _, id := range ids {
		if told := w.told[id]; told != "began ended " && told != "there ended " {
			t.Errorf("of %s was told %q", id, told)
		}
		same(t, id, w.lines[id], lines(t, open(t, store, id)))
	}
}

// A store that cannot be listed is reported once, and watching continues.
func TestWatchTrouble(t *testing.T) {
	store, tape, path, _ := sealedTape(t, 10)
	w := watch(t, store, nil)
	w.looked()
	tapes := strings.TrimSuffix(path, "/"+tape+".db")
	if err := os.Rename(tapes, tapes+"-away"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, tapes, []byte("no directory"))
	said := 0
	for range 5 {
		for {
			c, err, ok := w.next()
			if !ok {
				t.Fatal("the watch has ended")
			}
			if err != nil {
				said++
			}
			if c.Kind == record.StoreLooked {
				break
			}
		}
	}
	if said != 1 {
		t.Errorf("told %d times that the store cannot be listed", said)
	}
	if err := os.Remove(tapes); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tapes+"-away", tapes); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Delete(tape); err != nil {
		t.Fatal(err)
	}
	w.kind(record.TapeDeleted, tape)
}

// readsOnly reports whether a file descriptor is for reading: recorders have others.
func readsOnly(fdinfo string) bool {
	_, flags, _ := strings.Cut(fdinfo, "flags:")
	n, err := strconv.ParseUint(strings.Fields(flags)[0], 8, 32)
	return err == nil && n&unix.O_ACCMODE == unix.O_RDONLY
}

// A watcher keeps one file open for each tape being recorded; when watching has ended, or for
// tapes not being recorded, it keeps none.
func TestWatchDescriptors(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	var journals []*record.Recorder
	for range 20 {
		j := begin(t, store)
		j.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
		journals = append(journals, j)
	}
	ofStore := func() (n int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			path, err := os.Readlink("/proc/self/fd/" + e.Name())
			info, failed := os.ReadFile("/proc/self/fdinfo/" + e.Name())
			if err == nil && failed == nil && strings.HasPrefix(path, store.Dir()) && readsOnly(string(info)) {
				n++
			}
		}
		return n
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	looks, most := 0, 0
	for c, err := range store.Watch(ctx, allFrames) {
		if err != nil {
			t.Fatal(err)
		}
		if most = max(most, ofStore()); c.Kind == record.StoreLooked {
			if looks++; looks == 3 {
				cancel()
			}
		}
	}
	if most > len(journals)+2 {
		t.Errorf("%d files open for %d tapes", most, len(journals))
	}
	for range store.Watch(context.Background(), allFrames) {
		stacks := make([]byte, 1<<20)
		if n := strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "created by github.com/acptap/acptap/record.(*Store).Watch"); n > 0 {
			t.Errorf("%d goroutines were started", n)
		}
		break
	}
	for _, j := range journals {
		j.Close()
		j.Wait()
	}
	w := watch(t, store, allFrames)
	w.looked()
	if n := ofStore(); n > 0 {
		t.Errorf("%d files open, though nothing is recorded", n)
	}
}

// BenchmarkWatchIdle watches 200 tapes that are being recorded while nothing
// passes. It reports the processor's time for each second of watching.
func BenchmarkWatchIdle(b *testing.B) {
	store := record.OpenStore(b.TempDir())
	for range 200 {
		j := begin(b, store)
		j.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
	}
	next, stop := iter.Pull2(store.Watch(context.Background(), allFrames))
	defer stop()
	look := func() {
		for {
			if c, err, _ := next(); err != nil {
				b.Fatal(err)
			} else if c.Kind == record.StoreLooked {
				return
			}
		}
	}
	for range 10 {
		look()
	}
	before, began := processorTime(b), time.Now()
	for b.Loop() {
		look()
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(time.Since(began))*1000, "ms/s")
}

func processorTime(tb testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWatch reads 400,000 frames of 20 tapes that are there.
func BenchmarkWatch(b *testing.B) {
	store := record.OpenStore(b.TempDir())
	for i := range 20 {
		j := begin(b, store)
		gen := newTraffic(uint64(i))
		for range 20_000 {
			dir, p := gen.next()
			j.Append(dir, wire.Wire, p)
		}
		finish(b, store, j)
	}
	frames := 0
	for b.Loop() {
		for c, err := range store.Watch(context.Background(), allFrames) {
			if err != nil {
				b.Fatal(err)
			}
			if frames++; c.Kind == record.StoreLooked {
				break
			}
		}
	}
	b.ReportMetric(float64(frames)/b.Elapsed().Seconds(), "frames/s")
}
