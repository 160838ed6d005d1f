//go:build linux

package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// recordRole records traffic of the seed args[1] into the store args[0] until
// stdin ends, but at least args[2] frames. It prints the tape first, and last
// how many frames it has recorded.
func recordRole(args []string) error {
	seed, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	least, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	j, err := record.OpenStore(args[0]).Record(record.Start{Command: []string{"agent"}})
	if err != nil {
		return err
	}
	fmt.Println(j.Tape())
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	gen := newTraffic(seed)
	for more := true; more; {
		for range 100 {
			dir, p := gen.next()
			if err := j.Append(dir, wire.Wire, p); err != nil {
				return err
			}
		}
		select {
		case <-ended:
			more = gen.n < least
		case <-time.After(50 * time.Millisecond): // 0.7 MB a second, a fast agent
		}
	}
	j.Exit(0, nil, [wire.Directions]int64{})
	err = j.Close()
	fmt.Println(gen.n)
	return err
}

// recoverRole recovers until nothing is left to recover.
func recoverRole(args []string) error {
	return record.OpenStore(args[0]).Recover(func() bool { return false }, nil)
}

// checkTraffic fails unless the tape holds n frames of the seed's traffic.
func checkTraffic(t testing.TB, tape *record.Tape, seed uint64, n int) {
	t.Helper()
	gen := newTraffic(seed)
	want := newSums()
	for range n {
		dir, p := gen.next()
		want[dir].Write(p)
	}
	streams(t, tape).check(t, tape.ID(), want)
}

// Twenty proxies in one store, and two who read it all the time.
func TestCrowd(t *testing.T) {
	proxies := 20
	if testing.Short() {
		proxies = 8
	}
	dir := t.TempDir()
	store := record.OpenStore(dir)
	var procs []*process
	for i := range proxies {
		procs = append(procs, play(t, "record", dir, fmt.Sprint(i), fmt.Sprint(less(6000))))
	}
	var tapes []string
	for _, p := range procs {
		tapes = append(tapes, p.line(t))
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				l, err := store.List()
				if err != nil || len(l.Broken) > 0 || len(l.Tapes) != proxies {
					t.Errorf("listed %d of %d tapes, broken: %v, %v", len(l.Tapes), proxies, l.Broken, err)
					return
				}
				for _, info := range l.Tapes {
					tape, err := store.Open(info.Tape)
					if err != nil {
						t.Error(err)
						return
					}
					next := max(info.Lines, 300) - 299
					for f, err := range tape.Frames(next) {
						if err != nil || f.Seq != next {
							t.Errorf("tape %s: frame %d came, want %d: %v", info.Tape, f.Seq, next, err)
							return
						}
						next++
					}
					if next <= info.Lines {
						t.Errorf("tape %s: it had %d frames, %d are left", info.Tape, info.Lines, next-1)
						return
					}
				}
			}
		})
	}
	time.Sleep(*crowdTime)
	counts := make([]int, proxies)
	for _, p := range procs {
		p.end()
	}
	for i, p := range procs {
		var err error
		if counts[i], err = strconv.Atoi(p.rest(t)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	readers.Wait()
	sealAll(t, store)
	for i, tape := range tapes {
		checkTraffic(t, open(t, store, tape), uint64(i), counts[i])
	}
	l, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range l.Tapes {
		if !info.Complete || info.Live {
			t.Errorf("tape %s is not complete: %+v", info.Tape, info)
		}
	}
}

// A reader and a follower miss nothing, get nothing twice and see the same
// numbers, however fast the journal is sealed behind them, and however slow they
// are.
func TestReadersAgainstSealer(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	var group sync.WaitGroup
	seen := make([][]line, 3)
	for i := range seen {
		group.Go(func() {
			tape, err := store.Open(j.Tape())
			if err != nil {
				t.Error(err)
				return
			}
			for f, err := range tape.Follow(context.Background(), 1) {
				if err != nil {
					t.Error(err)
					return
				}
				seen[i] = append(seen[i], lineOf(f))
				if f.Seq%4000 == 0 {
					time.Sleep(time.Duration(i) * 40 * time.Millisecond) // a slow one
				}
				if f.Size > wire.MaxChecked {
					var b bytes.Buffer
					if err := tape.WriteFrame(&b, f.Seq); err != nil || int64(b.Len()) != f.Size {
						t.Errorf("frame %d: %d bytes of %d: %v", f.Seq, b.Len(), f.Size, err)
					}
				}
			}
		})
	}
	gen := newTraffic(5)
	long := append(bytes.Repeat([]byte("long "), 700_000), '\n')
	for i := range less(60_000) {
		dir, p := gen.next()
		if err := j.Append(dir, wire.Wire, p); err != nil {
			t.Error(err)
		}
		if i%6000 == 3000 { // crosses blocks
			j.Append(wire.ClientToAgent, wire.Wire, long)
		}
	}
	finish(t, store, j)
	group.Wait()
	want := lines(t, open(t, store, j.Tape()))
	for i, got := range seen {
		same(t, fmt.Sprintf("follower %d", i), got, want)
	}
}

// A reader that stops following need not wait for the frames that are already there.
func TestFollowEnds(t *testing.T) {
	store, id, _, want := sealedTape(t, 7000)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for _, err := range open(t, store, id).Follow(ctx, 1) {
		if err != nil {
			t.Error(err)
		}
		n++
		cancel()
	}
	if n > len(want)/2 {
		t.Errorf("%d frames of %d after the context's end", n, len(want))
	}
}

// A reader in the middle of the journal continues in the blocks when the tape ends.
func TestReaderOverTheEnd(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	gen := newTraffic(6)
	for range 10_000 {
		dir, p := gen.next()
		j.Append(dir, wire.Wire, p)
	}
	before := lines(t, open(t, store, j.Tape()))
	var got []line
	for f, err := range open(t, store, j.Tape()).Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, lineOf(f)); len(got) == 1 {
			finish(t, store, j)
		}
	}
	if len(got) < len(before) {
		t.Fatalf("%d frames of %d", len(got), len(before))
	}
	same(t, "over the end", got[:len(before)], before)
}

// Several who recover one journal at once do it once.
func TestRecoverTwice(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	gen := newTraffic(7)
	for range 10_000 {
		dir, p := gen.next()
		j.Append(dir, wire.Wire, p)
	}
	killed := orphan(t, store)
	finish(t, store, j)
	var procs []*process
	for range 4 {
		procs = append(procs, play(t, "recover", killed.Dir()))
	}
	for _, p := range procs {
		p.rest(t)
	}
	if left := segmentsOf(t, killed); len(left) > 0 {
		t.Errorf("left in live/: %v", left)
	}
	checkTraffic(t, open(t, killed, j.Tape()), 7, gen.n)
}

// A directory may have any name.
func TestOddDirectory(t *testing.T) {
	store := record.OpenStore(t.TempDir() + "/a [b] *? ü")
	j := begin(t, store)
	j.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
	killed := orphan(t, store)
	if n := len(lines(t, open(t, store, j.Tape()))); n != 1 {
		t.Errorf("%d frames while it is recorded, want 1", n)
	}
	finish(t, store, j)
	if n := len(lines(t, open(t, store, j.Tape()))); n != 2 {
		t.Errorf("%d frames, want 2", n)
	}
	sealAll(t, killed)
}

func TestDelete(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	gen := newTraffic(8)
	for range 5000 {
		dir, p := gen.next()
		j.Append(dir, wire.Wire, p)
	}
	if _, err := store.Delete(j.Tape()); !errors.Is(err, record.ErrLive) {
		t.Errorf("deleting a tape that is recorded: %v", err)
	}
	killed := orphan(t, store)
	if _, err := killed.Delete(j.Tape()); err != nil {
		t.Errorf("deleting what a killed proxy left: %v", err)
	}
	if left := segmentsOf(t, killed); len(left) > 0 {
		t.Errorf("left in live/: %v", left)
	}
	if _, err := killed.Open(j.Tape()); !errors.Is(err, record.ErrNoTape) {
		t.Errorf("opening it then: %v", err)
	}
	finish(t, store, j)

	// While it is read.
	frames, failed := 0, 0
	for _, err := range open(t, store, j.Tape()).Frames(1) {
		if frames++; frames == 1 {
			if _, err := store.Delete(j.Tape()); err != nil {
				t.Error(err)
			}
		}
		if err != nil {
			failed++
			if !errors.Is(err, record.ErrNoTape) {
				t.Error(err)
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d errors after the tape was deleted, want 1", failed)
	}
	if l, err := store.List(); err != nil || len(l.Tapes)+len(l.Sessions) > 0 {
		t.Errorf("listed after all was deleted: %+v, %v", l, err)
	}
}

// A tape's file is a tape wherever it lies.
func TestCopiedTape(t *testing.T) {
	_, _, path, want := sealedTape(t, 4000)
	copied := t.TempDir() + "/copy"
	writeFile(t, copied, readFile(t, path))
	tape, err := record.OpenFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "copied", lines(t, tape), want)
}

// Nothing runs on when a journal was closed.
func TestNothingLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	store := record.OpenStore(t.TempDir())
	for i := range 2 {
		j := begin(t, store)
		gen := newTraffic(uint64(i))
		for range 8000 {
			dir, p := gen.next()
			j.Append(dir, wire.Wire, p)
		}
		finish(t, store, j)
		j.Wait()
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= before { // one that has told its end may be there for a moment
			return
		}
	}
	buf := make([]byte, 1<<16)
	var ours []string
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "acptap/record.") {
			ours = append(ours, g)
		}
	}
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, strings.Join(ours, "\n\n"))
}
