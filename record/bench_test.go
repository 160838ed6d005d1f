//go:build linux

package record_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

func BenchmarkJournalAppend(b *testing.B) {
	for _, size := range []int{357, 64 << 10} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			store := record.OpenStore(b.TempDir())
			j := begin(b, store)
			p := prose(size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			took := make([]time.Duration, 0, 1<<20)
			for b.Loop() {
				began := time.Now()
				if err := j.Append(wire.AgentToClient, wire.Wire, p); err != nil {
					b.Fatal(err)
				}
				if len(took) < cap(took) {
					took = append(took, time.Since(began))
				}
			}
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
			finish(b, store, j)
		})
	}
}

// prose returns that many bytes of frames.
func prose(size int) []byte {
	var b []byte
	for gen := newTraffic(1); len(b) < size; {
		_, p := gen.next()
		b = append(b, p...)
	}
	return b[:size]
}

// frames returns the bytes of n frames, both directions together.
func frames(n int) (all []byte) {
	gen := newTraffic(1)
	for range n {
		_, p := gen.next()
		all = append(all, p...)
	}
	return all
}

// BenchmarkSeal measures how fast an orphaned journal becomes a tape, and its size on disk
// compared with the bytes of the traffic and with zstd of the whole stream.
func BenchmarkSeal(b *testing.B) {
	const n = 12_000
	all := frames(n)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	zipped := len(enc.EncodeAll(all, nil))
	store := record.OpenStore(b.TempDir())
	j := begin(b, store)
	gen := newTraffic(1)
	// A directory in its place keeps the tape from being sealed.
	blocked := filepath.Join(store.Dir(), "tapes", j.Tape()+".db")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		b.Fatal(err)
	}
	for range n {
		dir, p := gen.next()
		if err := j.Append(dir, wire.Wire, p); err != nil {
			b.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(all)))
	b.ReportAllocs()
	var size int64
	for b.Loop() {
		b.StopTimer()
		killed := record.OpenStore(b.TempDir())
		copyDir(b, filepath.Join(store.Dir(), "live"), filepath.Join(killed.Dir(), "live"))
		if err := os.Mkdir(filepath.Join(killed.Dir(), "tapes"), 0o700); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		sealAll(b, killed)
		b.StopTimer()
		sizes, err := killed.Sizes(j.Tape())
		if err != nil {
			b.Fatal(err)
		}
		size = sizes[j.Tape()]
		if err := os.RemoveAll(killed.Dir()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(size)/float64(len(all)), "disk/raw")
	b.ReportMetric(float64(size)/float64(zipped), "disk/zstd")
}

// BenchmarkDissect measures cutting, decoding and numbering, without a disk
// being waited for: a portable file is read into memory.
func BenchmarkDissect(b *testing.B) {
	const n = 12_000
	var file bytes.Buffer
	gen := newTraffic(1)
	size := 0
	for range n {
		dir, p := gen.next()
		size += len(p)
		fmt.Fprintf(&file, `{"dir":"%v","frame":%s}`+"\n", dir, bytes.TrimSpace(p))
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record.ReadPortable(bytes.NewReader(file.Bytes()), "bench"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/frame")
}

// BenchmarkColumns measures reading the fields of the frames of a few blocks, and
// what these take in the tape's file.
func BenchmarkColumns(b *testing.B) {
	store, id, path, want := sealedTape(b, 7000)
	size := 0
	edit(b, path, func(tx *bolt.Tx) error {
		blocks := tx.Bucket([]byte("blocks"))
		return blocks.ForEachBucket(func(k []byte) error {
			size += len(blocks.Bucket(k).Get([]byte("rows")))
			return nil
		})
	})
	tape := open(b, store, id)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range tape.Rows(1) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(want)), "ns/frame")
	b.ReportMetric(float64(size)/float64(len(want)), "bytes/frame")
}

// BenchmarkMillion reads a tape of a million frames; of a sixteenth in a short run.
func BenchmarkMillion(b *testing.B) {
	store := record.OpenStore(b.TempDir())
	frames := less(1_000_000)
	j := begin(b, store)
	gen := newTraffic(1)
	for range frames - 1 {
		dir, p := gen.next()
		if err := j.Append(dir, wire.Wire, p); err != nil {
			b.Fatal(err)
		}
	}
	finish(b, store, j) // adds the exit
	tape := open(b, store, j.Tape())
	b.Run("LastFrame", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if f, err := tape.Frame(uint64(frames)); err != nil {
				b.Fatal(f.Seq, err)
			}
		}
	})
	b.Run("Rows", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for _, err := range tape.Rows(1) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != frames {
				b.Fatal(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(frames), "ns/frame")
	})
	b.Run("Frames", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range tape.Frames(1) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(frames), "ns/frame")
	})
}

// BenchmarkList lists ten thousand tapes that the catalogue knows; a sixteenth of
// that in a short run.
func BenchmarkList(b *testing.B) {
	dir, err := os.MkdirTemp("/dev/shm", "acptap-bench-") // or each tape waits for the disk
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	store := record.OpenStore(dir)
	var file bytes.Buffer
	gen := newTraffic(1)
	for range 10 {
		dir, p := gen.next()
		fmt.Fprintf(&file, `{"dir":"%v","frame":%s}`+"\n", dir, bytes.TrimSpace(p))
	}
	n := less(10_000)
	for i := range n {
		head := fmt.Sprintf(`{"acptap":1,"started":"%s","command":["agent","--acp"],"cwd":"/home/user/project"}`+"\n", time.Unix(1_700_000_000+int64(i)*60, 0).UTC().Format(time.RFC3339))
		if _, err := store.Import(bytes.NewReader(append([]byte(head), file.Bytes()...)), "bench", nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		l, err := store.List()
		if err != nil || len(l.Tapes) != n {
			b.Fatal(len(l.Tapes), err)
		}
	}
}

// BenchmarkTwentyProxies lists and reads a store, for two seconds, in which
// twenty processes record, each as much as a fast agent says. It
// reports the longest time of each, and of waiting for the catalogue to write it.
func BenchmarkTwentyProxies(b *testing.B) {
	dir := b.TempDir()
	store := record.OpenStore(dir)
	var procs []*process
	for i := range 20 {
		procs = append(procs, play(b, "record", dir, fmt.Sprint(i), "1000"))
	}
	for _, p := range procs {
		p.line(b)
	}
	var list, read, lock time.Duration
	for b.Loop() {
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
			began := time.Now()
			l, err := store.List()
			if err != nil {
				b.Fatal(err)
			}
			list = max(list, time.Since(began))
			lock = max(lock, waitForLock(b, filepath.Join(dir, "acptap.db")))
			for _, info := range l.Tapes {
				began := time.Now()
				for range open(b, store, info.Tape).Follow(context.Background(), 1) {
					break // the first frame: one look into the tape's file, one block
				}
				read = max(read, time.Since(began))
			}
		}
	}
	b.ReportMetric(float64(lock.Microseconds())/1000, "lock-max-ms")
	b.ReportMetric(float64(list.Microseconds())/1000, "list-max-ms")
	b.ReportMetric(float64(read.Microseconds())/1000, "read-max-ms")
	for _, p := range procs {
		p.end()
	}
	for _, p := range procs {
		p.rest(b)
	}
}
