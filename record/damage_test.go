//go:build linux

package record_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// survivors are the frames that could be read in spite of damage.
type survivors struct {
	byText map[string]int
	marks  []wire.Marked
	last   dialect.Frame
	errs   []error
}

// survive reads a tape that may be damaged. Numbers and times go up all the same.
func survive(t testing.TB, tape *record.Tape) survivors {
	t.Helper()
	s := survivors{byText: map[string]int{}}
	for f, err := range tape.Frames(1) {
		if err != nil {
			s.errs = append(s.errs, err)
			continue
		}
		if f.Seq <= s.last.Seq || len(s.errs) == 0 && f.Seq != s.last.Seq+1 {
			t.Fatalf("frame %d after frame %d", f.Seq, s.last.Seq)
		}
		if s.last = f; f.Kind == wire.Mark {
			s.marks = append(s.marks, wire.ReadMark(f.Frame))
			continue
		}
		s.byText[string(f.Raw)]++
	}
	return s
}

// missing returns how many of the texts did not survive, and fails if one is
// there that was never written.
func (s survivors) missing(t testing.TB, texts []string) int {
	t.Helper()
	missing := 0
	left := len(s.byText)
	for _, text := range texts {
		if s.byText[text] == 0 {
			missing++
		} else {
			left--
		}
	}
	if left > missing { // what is torn off a line is a line
		t.Errorf("%d lines that nobody wrote", left)
	}
	return missing
}

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

// flip changes bits of one byte of a file, in place: to write all of it again is
// what takes most of the time.
func flip(t testing.TB, path string, at int, bits byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
	b[0] ^= bits
	if _, err := f.WriteAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
}

// A journal that was torn anywhere has the records before the tear, and can be
// adopted.
func TestTornJournal(t *testing.T) {
	store, tape, texts := small(t)
	path := segmentsOf(t, store)[0]
	whole := bytes.TrimRight(readFile(t, path), "\x00")
	for size := range whole {
		if size < 4<<10 && size%97 != 0 {
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
		t.Errorf("adopted: %d lines missing, want 1", missing)
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
	// The header, and a record: what readers see is what is sealed.
	for _, at := range []int{3, 20, last - 100, last - 90} {
		copied := orphan(t, store)
		damaged := bytes.Clone(whole)
		damaged[at] ^= 4
		writeFile(t, segmentsOf(t, copied)[0], damaged)
		before := lines(t, open(t, copied, tape))
		sealAll(t, copied)
		same(t, fmt.Sprintf("adopted with byte %d damaged", at), lines(t, open(t, copied, tape)), before)
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
	same(t, "adopted", lines(t, open(t, killed, j.Tape())), want)
}

// unsealed records some segments, of which nothing is sealed, and returns the
// store as their proxy left it when it was killed.
func unsealed(t testing.TB) (killed *record.Store, tape string, segments []string, bytesIn int) {
	t.Helper()
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	// What is no file in the place of the tape's cannot be written to.
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
	if err := killed.Adopt(func() bool { return false }, nil); !errors.Is(err, record.ErrDamaged) {
		t.Errorf("adopting: %v", err)
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
	same(t, "adopted", lines(t, tape), before)
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

// harmless reads all that can be read of a damaged tape in all ways. What is read
// must be as it was, and no lock may stay held.
func harmless(t testing.TB, what string, store *record.Store, id, path string, want []line) (read int) {
	t.Helper()
	tape, err := store.Open(id)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for f, err := range tape.Frames(1) {
		if err != nil {
			continue
		}
		if read++; f.Seq == 0 || f.Seq > uint64(len(want)) || lineOf(f) != want[f.Seq-1] {
			t.Errorf("%s: frame %d is not what it was", what, f.Seq)
		}
	}
	for range tape.Rows(uint64(len(want)) / 2) {
	}
	tape.Info()
	tape.Sessions()
	if _, err := store.List(); err != nil {
		t.Errorf("%s: listing: %v", what, err)
	}
	if from, err := record.OpenFile(path); err == nil {
		for range from.Rows(1) {
		}
	}
	assertUnlocked(t, path)
	return read
}

// Damage in any page of a tape's file costs the blocks that it hits, or the tape,
// but it ends no process, holds no lock and makes up no frame.
func TestPagesOfTape(t *testing.T) {
	store, id, path, want := sealedTape(t, 7000)
	whole := readFile(t, path)
	rng := rand.New(rand.NewPCG(3, 4))
	const page = 4 << 10
	all, none := 0, 0
	step := page
	if testing.Short() {
		step *= 7
	}
	for at := 0; at < len(whole); at += step {
		for _, where := range []int{rng.IntN(64), rng.IntN(page)} { // heads of pages matter most
			bit := byte(1) << rng.IntN(8)
			flip(t, path, at+where, bit)
			switch read := harmless(t, fmt.Sprintf("byte %d of page %d", where, at/page), store, id, path, want); read {
			case len(want):
				all++
			case 0:
				none++
			}
			flip(t, path, at+where, bit)
		}
	}
	t.Logf("%d times all of it could be read, %d times nothing, of %d", all, none, 2*len(whole)/page)
	if read := harmless(t, "mended", store, id, path, want); read != len(want) {
		t.Errorf("%d frames after all is well again, want %d", read, len(want))
	}
}

func TestTruncatedTape(t *testing.T) {
	store, id, path, want := sealedTape(t, 7000)
	whole := readFile(t, path)
	for _, size := range []int{0, 1, 16, 100, 4095, 4096, 4097, 8192, 10_000, 12_288, 16_384, len(whole) / 3, len(whole) / 2, len(whole) - 4096, len(whole) - 1} {
		writeFile(t, path, whole[:size])
		harmless(t, fmt.Sprintf("%d bytes of %d", size, len(whole)), store, id, path, want)
		if now := readFile(t, path); !bytes.Equal(now, whole[:size]) {
			t.Errorf("%d bytes of %d: reading has changed the file", size, len(whole))
		}
	}
	for _, b := range [][]byte{{}, []byte("not bbolt"), bytes.Repeat([]byte("no bbolt\n"), 1e5), make([]byte, 1<<16), bytes.Repeat([]byte{0xff}, 1<<16)} {
		writeFile(t, path, b)
		if read := harmless(t, "no bbolt file", store, id, path, want); read > 0 {
			t.Errorf("%d frames in a file of %.10q", read, b)
		}
		_, err := open(t, store, id).Info()
		if !errors.Is(err, record.ErrDamaged) {
			t.Errorf("a file of %.10q: %v", b, err)
		}
	}
	if _, err := store.Delete(id); err != nil {
		t.Errorf("deleting a damaged tape: %v", err)
	}
}

// The bytes of one damaged block are one error, and the frames behind it follow.
func TestDamagedBlock(t *testing.T) {
	sealed, id, _, want := sealedTape(t, 7000)
	for _, key := range []string{"head", "rows", "bytes", "state"} {
		store := orphan(t, sealed)
		edit(t, filepath.Join(store.Dir(), "tapes", id+".db"), func(tx *bolt.Tx) error {
			blocks := tx.Bucket([]byte("blocks"))
			c := blocks.Cursor()
			c.First()
			k, _ := c.Next() // the second one
			value := bytes.Clone(blocks.Bucket(k).Get([]byte(key)))
			value[len(value)/2] ^= 0x10
			return blocks.Bucket(k).Put([]byte(key), value)
		})
		s := survive(t, open(t, store, id))
		if key == "state" { // only the last one is ever read
			if len(s.errs) > 0 {
				t.Errorf("%s: %v", key, s.errs)
			}
			continue
		}
		if len(s.errs) != 1 || !errors.Is(s.errs[0], record.ErrDamaged) {
			t.Errorf("%s: errors %v, want one", key, s.errs)
		}
		if s.last.Seq != uint64(len(want)) {
			t.Errorf("%s: the last frame is %d, want %d", key, s.last.Seq, len(want))
		}
	}
}

// A last block that is damaged does not hide what the journal holds behind it,
// neither before nor after that is sealed.
func TestDamagedLastBlock(t *testing.T) {
	recording := record.OpenStore(t.TempDir())
	j := begin(t, recording)
	gen := newTraffic(14)
	j.Append(wire.AgentStderr, wire.Wire, []byte("begun, "))
	for range 7000 {
		dir, p := gen.next()
		j.Append(dir, wire.Wire, p)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // until two blocks are sealed
		if segments := segmentsOf(t, recording); strings.HasSuffix(segments[0], ".0000000000200000") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no two blocks are sealed after a minute")
		}
	}
	j.Append(wire.AgentStderr, wire.Wire, []byte("done\n"))
	killed := orphan(t, recording)
	finish(t, recording, j)
	whole := open(t, killed, j.Tape())
	want := lines(t, whole)
	info, err := whole.Info()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"head", "rows", "bytes", "state"} {
		t.Run(key, func(t *testing.T) {
			store := orphan(t, killed)
			var first uint64 // in the last block
			edit(t, filepath.Join(store.Dir(), "tapes", j.Tape()+".db"), func(tx *bolt.Tx) error {
				blocks := tx.Bucket([]byte("blocks"))
				k, _ := blocks.Cursor().Last()
				first = binary.BigEndian.Uint64(k)
				value := bytes.Clone(blocks.Bucket(k).Get([]byte(key)))
				value[0] ^= 0x80
				return blocks.Bucket(k).Put([]byte(key), value)
			})
			for _, when := range []string{"in the journal", "adopted"} {
				tape := open(t, store, j.Tape())
				var got []line
				errs := 0
				for f, err := range tape.Frames(1) {
					if err != nil {
						errs++
						continue
					}
					got = append(got, lineOf(f))
				}
				wantErrs := 1
				if key == "state" { // all frames are there; what a line began with is not
					wantErrs = 0
				}
				if errs != wantErrs {
					t.Errorf("%s: %d errors, want %d", when, errs, wantErrs)
				}
				lost := key == "head" || key == "state" // what was open at its end: requests, and a line of stderr
				for _, l := range got {
					w := want[l.seq-1]
					if lost && w.kind == wire.Response {
						l.method, l.session, l.answers, l.events = w.method, w.session, w.answers, w.events
					}
					if l != w && !(lost && w.kind == wire.Stderr) {
						t.Fatalf("%s: frame %d is %+v, want %+v", when, l.seq, l, w)
					}
				}
				if n := len(got); n == 0 || got[n-1].seq != uint64(len(want)) || uint64(n) < first {
					t.Errorf("%s: %d frames of %d", when, n, len(want))
				}
				now, err := tape.Info()
				if err != nil || now.Frames != info.Frames || now.Connection != info.Connection || now.Lost != 0 {
					t.Errorf("%s: facts %+v, %v, want %+v", when, now, err, info)
				}
				sealAll(t, store)
			}
		})
	}
}

func edit(t testing.TB, path string, f func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(f); err != nil {
		t.Fatal(err)
	}
}

// What a newer acptap has written is left alone.
func TestNewer(t *testing.T) {
	t.Run("journal", func(t *testing.T) {
		store, tape, _ := small(t)
		path := segmentsOf(t, store)[0]
		rewriteHead(t, path, `{"version":1`, `{"version":2`)
		whole := readFile(t, path)
		for _, err := range open(t, store, tape).Frames(1) {
			if !errors.Is(err, record.ErrNewer) {
				t.Errorf("reading: %v", err)
			}
		}
		if err := store.Adopt(func() bool { return false }, nil); !errors.Is(err, record.ErrNewer) {
			t.Errorf("adopting: %v", err)
		}
		if !bytes.Equal(readFile(t, path), whole) {
			t.Error("the journal was changed")
		}
	})
	sealed, id, _, _ := sealedTape(t, 7000)
	file := func(store *record.Store) string { return filepath.Join(store.Dir(), "tapes", id+".db") }
	t.Run("block", func(t *testing.T) {
		store := orphan(t, sealed)
		edit(t, file(store), func(tx *bolt.Tx) error {
			blocks := tx.Bucket([]byte("blocks"))
			k, _ := blocks.Cursor().Last()
			head := map[string]any{}
			if err := json.Unmarshal(blocks.Bucket(k).Get([]byte("head")), &head); err != nil {
				return err
			}
			head["version"] = 2
			text, err := json.Marshal(head)
			if err != nil {
				return err
			}
			return blocks.Bucket(k).Put([]byte("head"), text)
		})
		s := survive(t, open(t, store, id))
		if len(s.errs) != 1 || !errors.Is(s.errs[0], record.ErrNewer) {
			t.Errorf("errors %v, want one", s.errs)
		}
	})
	t.Run("facts", func(t *testing.T) {
		store := orphan(t, sealed)
		edit(t, file(store), func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("tape"))
			info := bytes.Clone(b.Get([]byte("info")))
			info[0] = 9
			return b.Put([]byte("info"), info)
		})
		if _, err := open(t, store, id).Info(); !errors.Is(err, record.ErrNewer) {
			t.Errorf("facts: %v", err)
		}
	})
}

// The catalogue is an index: damage in it costs time, and Rebuild mends it.
func TestDamagedCatalogue(t *testing.T) {
	store, id, _, want := sealedTape(t, 500)
	path := filepath.Join(store.Dir(), "acptap.db")
	whole := readFile(t, path)
	listed, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	broken := [][]byte{{}, []byte("no bbolt"), whole[:5000], make([]byte, len(whole))}
	for at := 0; at < len(whole); at += 512 {
		damaged := bytes.Clone(whole)
		damaged[at+at/512%32] ^= 0x40
		broken = append(broken, damaged)
	}
	for i, b := range broken {
		writeFile(t, path, b)
		l, err := store.List()
		if err != nil || len(l.Tapes) != 1 || len(l.Broken) > 0 || l.Tapes[0].Lines != listed.Tapes[0].Lines {
			t.Fatalf("%d: %+v, %v", i, l, err)
		}
		if n := len(lines(t, open(t, store, id))); n != len(want) {
			t.Errorf("%d: %d frames, want %d", i, n, len(want))
		}
		assertUnlocked(t, path)
	}
	writeFile(t, path, []byte("no bbolt"))
	j := begin(t, store)
	j.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
	finish(t, store, j)
	if err := store.Rebuild(nil); err != nil {
		t.Fatal(err)
	}
	if l, err := store.List(); err != nil || len(l.Tapes) != 2 || len(l.Sessions) != len(listed.Sessions) {
		t.Errorf("after Rebuild: %+v, %v", l, err)
	}
}
