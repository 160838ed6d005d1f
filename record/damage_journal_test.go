//go:build linux

package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// small records a few lines, one record each, and returns the store as their
// proxy left it when it was killed.
func small(t testing.TB) (store *record.Store, tape string, texts []string) {
	t.Helper()
	recording := record.OpenStore(t.TempDir())
	j := begin(t, recording)
	for i := range 8 {
		text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"test"}`, i)
		texts = append(texts, text)
		j.Append(wire.ClientToAgent, wire.Wire, []byte(text+"\n"))
	}
	killed := orphan(t, recording)
	finish(t, recording, j)
	return killed, j.Tape(), texts
}

// A journal that was torn anywhere has the records before the tear, and can be
// recovered.
func TestTornJournal(t *testing.T) {
	store, tape, texts := small(t)
	path := segmentsOf(t, store)[0]
	whole := bytes.TrimRight(readFile(t, path), "\x00")
	for size := range whole {
		if size < 4<<10 && size%97 != 0 || testing.Short() && size%3 != 0 {
			continue // of the header some are enough
		}
		for _, zeros := range []int{0, 8 << 10} { // as the proxy's death leaves it, and the power's
			writeFile(t, path, append(bytes.Clone(whole[:size]), make([]byte, zeros)...))
			s := survive(t, open(t, store, tape))
			want := bytes.Count(whole[:size], []byte("\"}\n")) // a line feed alone may be part of a head
			if missing := s.missing(t, texts); missing != len(texts)-want || len(s.errs) > 0 || len(s.marks) > 0 {
				t.Fatalf("torn at %d: %d lines missing of %d, want %d; marks %v, errors %v", size, missing, len(texts), len(texts)-want, s.marks, s.errs)
			}
		}
	}
	sealAll(t, store)
	if missing := survive(t, open(t, store, tape)).missing(t, texts); missing != 1 {
		t.Errorf("recovered: %d lines missing, want 1", missing)
	}
}

// A bit that flips in a journal costs no more than the record that it is in, and
// that is marked.
func TestBitsOfJournal(t *testing.T) {
	store, tape, texts := small(t)
	path := segmentsOf(t, store)[0]
	whole := readFile(t, path)
	used := len(bytes.TrimRight(whole, "\x00"))
	last := bytes.LastIndex(whole[:used], []byte{0xb5, 0x61, 0x74, 0x9d})
	step := 1
	if testing.Short() {
		step = 7 // other bits of each byte
	}
	for bit := 0; bit < used*8; bit += step {
		if at := bit / 8; at > 1<<10 && at < 4<<10 {
			continue // zeros behind the header
		}
		flip(t, path, bit/8, 1<<(bit%8))
		s := survive(t, open(t, store, tape))
		flip(t, path, bit/8, 1<<(bit%8))
		missing := s.missing(t, texts)
		switch {
		case missing > 1 || len(s.errs) > 0:
			t.Fatalf("bit %d of byte %d: %d lines missing, errors %v", bit%8, bit/8, missing, s.errs)
		case missing == 1 && len(s.marks) == 0 && bit/8 < last: // the last one may as well be torn
			t.Fatalf("bit %d of byte %d: a line is missing and nothing says so", bit%8, bit/8)
		}
	}
	// If the header or a record is damaged, readers see the same as what is sealed.
	for _, at := range []int{3, 20, last - 100, last - 90} {
		copied := orphan(t, store)
		damaged := bytes.Clone(whole)
		damaged[at] ^= 4
		writeFile(t, segmentsOf(t, copied)[0], damaged)
		before := lines(t, open(t, copied, tape))
		sealAll(t, copied)
		same(t, fmt.Sprintf("recovered with byte %d damaged", at), lines(t, open(t, copied, tape)), before)
		info, err := open(t, copied, tape).Info()
		if err != nil || info.Start.Time.IsZero() || !info.Complete {
			t.Errorf("facts with byte %d damaged: %+v, %v", at, info, err)
		}
	}
}

// Of a large journal each flipped bit costs at most the lines of one record.
func TestBitsOfLargeJournal(t *testing.T) {
	recording := record.OpenStore(t.TempDir())
	j := begin(t, recording)
	gen := newTraffic(11)
	var texts []string
	for range 5000 {
		dir, p := gen.next()
		texts = append(texts, string(bytes.TrimSuffix(p, []byte("\n"))))
		j.Append(dir, wire.Wire, p)
	}
	killed := orphan(t, recording)
	finish(t, recording, j)
	rng := rand.New(rand.NewPCG(1, 2))
	flips := 0
	for _, path := range segmentsOf(t, killed) {
		b := readFile(t, path)
		for range 20 {
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
			flips++
		}
		writeFile(t, path, b)
	}
	before := survive(t, open(t, killed, j.Tape()))
	if missing := before.missing(t, texts); missing > flips || missing == 0 || len(before.errs) > 0 {
		t.Errorf("%d lines missing after %d flipped bits, errors %v", missing, flips, before.errs)
	}
	if lost := len(before.marks); lost == 0 {
		t.Error("nothing says that lines are missing")
	}
	want := lines(t, open(t, killed, j.Tape()))
	sealAll(t, killed)
	same(t, "recovered", lines(t, open(t, killed, j.Tape())), want)
}

// unsealed records some segments, of which nothing is sealed, and returns the
// store as their proxy left it when it was killed.
func unsealed(t testing.TB) (killed *record.Store, tape string, segments []string, bytesIn int) {
	t.Helper()
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	// If something other than a file is in the place of the tape's file, nothing can be
	// written to it.
	if err := os.Mkdir(filepath.Join(store.Dir(), "tapes", j.Tape()+".db"), 0o700); err != nil {
		t.Fatal(err)
	}
	gen := newTraffic(12)
	for range 12_000 {
		dir, p := gen.next()
		bytesIn += len(p)
		j.Append(dir, wire.Wire, p)
	}
	killed = record.OpenStore(t.TempDir())
	copyDir(t, filepath.Join(store.Dir(), "live"), filepath.Join(killed.Dir(), "live"))
	if err := os.Mkdir(filepath.Join(killed.Dir(), "tapes"), 0o700); err != nil {
		t.Fatal(err)
	}
	j.Close()
	j.Wait()
	if segments = segmentsOf(t, killed); len(segments) < 4 {
		t.Fatalf("%d segments", len(segments))
	}
	return killed, j.Tape(), segments, bytesIn
}

// A segment in the place of another is not taken for that: what stands before it
// can be read, and the journal stays as it is.
func TestSwappedSegments(t *testing.T) {
	killed, id, segments, _ := unsealed(t)
	want := lines(t, open(t, killed, id))
	whole := readFile(t, segments[2])
	writeFile(t, segments[1], whole)
	var got []line
	errs := 0
	for f, err := range open(t, killed, id).Frames(1) {
		if err != nil {
			if errs++; !errors.Is(err, record.ErrDamaged) || !strings.Contains(err.Error(), "says that it is 200000 of ") {
				t.Errorf("got %v, want an error that names the segment", err)
			}
			continue
		}
		got = append(got, lineOf(f))
	}
	if n := len(got); errs != 1 || n < 1000 || n > len(want)/2 {
		t.Errorf("%d frames of %d and %d errors", n, len(want), errs)
	}
	same(t, "before the wrong segment", got, want[:len(got)])
	if err := killed.Recover(func() bool { return false }, nil); !errors.Is(err, record.ErrDamaged) {
		t.Errorf("recovering: %v", err)
	}
	if !bytes.Equal(readFile(t, segments[1]), whole) || len(segmentsOf(t, killed)) != len(segments) {
		t.Error("the journal was changed")
	}
}

// A segment that is gone from the middle of a journal is a gap of known size.
func TestMissingSegment(t *testing.T) {
	killed, id, segments, bytesIn := unsealed(t)
	if err := os.Remove(segments[1]); err != nil {
		t.Fatal(err)
	}
	before := lines(t, open(t, killed, id))
	sealAll(t, killed)
	tape := open(t, killed, id)
	same(t, "recovered", lines(t, tape), before)
	var here, lost int64
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == wire.Mark {
			lost += wire.ReadMark(f.Frame).Gap
		} else {
			here += f.Size + int64(len(f.End.Bytes()))
		}
	}
	if here+lost != int64(bytesIn) || lost < 900<<10 {
		t.Errorf("%d bytes are there and %d are marked as lost; %d went by", here, lost, bytesIn)
	}
}
