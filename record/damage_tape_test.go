//go:build linux

package record_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// harmless reads everything readable of a damaged tape in all ways. The result must be
// unchanged, and no lock may stay held.
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
	if bytes.Contains(readFile(t, filepath.Join(store.Dir(), "acptap.db")), []byte("sess_0123456789")) {
		t.Error("the catalogue tells of a session on the tape that was deleted")
	}
}

// The bytes of one damaged block are one error, and the frames behind it follow.
func TestDamagedBlock(t *testing.T) {
	sealed, id, _, want := sealedTape(t, 7000)
	for _, key := range []string{"head", "head's middle", "head's end", "rows", "bytes", "state"} {
		store := orphan(t, sealed)
		edit(t, filepath.Join(store.Dir(), "tapes", id+".db"), func(tx *bolt.Tx) error {
			blocks := tx.Bucket([]byte("blocks"))
			c := blocks.Cursor()
			c.First()
			k, _ := c.Next() // the second one
			name, place, _ := strings.Cut(key, "'")
			value := bytes.Clone(blocks.Bucket(k).Get([]byte(name)))
			at := len(value) / 2
			switch {
			case place == "s end":
				at = len(value) - 3
			case name == "head" && place == "":
				at = bytes.Index(value, []byte(`"began"`)) + 2 // a member that is unknown to this version
			}
			value[at] ^= 0x10
			return blocks.Bucket(k).Put([]byte(name), value)
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

// partlySealed records two blocks and some more, and returns the store as its
// proxy left it when it was killed before that was sealed.
func partlySealed(t testing.TB) (killed *record.Store, tape string) {
	t.Helper()
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
	killed = orphan(t, recording)
	finish(t, recording, j)
	return killed, j.Tape()
}

// A damaged last block does not hide the rest of the journal, neither before nor after that
// is sealed.
func TestDamagedLastBlock(t *testing.T) {
	killed, id := partlySealed(t)
	whole := open(t, killed, id)
	want := lines(t, whole)
	info, err := whole.Info()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"head", "rows", "bytes", "state"} {
		t.Run(key, func(t *testing.T) {
			store := orphan(t, killed)
			var first uint64 // in the last block
			edit(t, filepath.Join(store.Dir(), "tapes", id+".db"), func(tx *bolt.Tx) error {
				blocks := tx.Bucket([]byte("blocks"))
				k, _ := blocks.Cursor().Last()
				first = binary.BigEndian.Uint64(k)
				value := bytes.Clone(blocks.Bucket(k).Get([]byte(key)))
				value[0] ^= 0x80
				return blocks.Bucket(k).Put([]byte(key), value)
			})
			for _, when := range []string{"in the journal", "recovered"} {
				tape := open(t, store, id)
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
				if key == "state" { // all frames are there, except for the beginnings of lines
					wantErrs = 0
				}
				if errs != wantErrs {
					t.Errorf("%s: %d errors, want %d", when, errs, wantErrs)
				}
				lost := key == "head" || key == "state" // open at its end: requests, and a line of stderr
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

// The position of a block, and how far a tape is sealed, are each stored twice. If one of the
// two is damaged, readers neither wait for frames that will not come nor skip existing ones.
func TestDamagedPlaces(t *testing.T) {
	killed, id := partlySealed(t)
	want := lines(t, open(t, killed, id))
	rename := func(to uint32, last bool) func(tx *bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			blocks := tx.Bucket([]byte("blocks"))
			c := blocks.Cursor()
			k, _ := c.First()
			if last {
				k, _ = c.Last()
			}
			key := bytes.Clone(k)
			binary.BigEndian.PutUint32(key[8:], to)
			renamed, err := blocks.CreateBucket(key)
			if err != nil {
				return err
			}
			if err := blocks.Bucket(k).ForEach(renamed.Put); err != nil {
				return err
			}
			return blocks.DeleteBucket(k)
		}
	}
	sealed := func(text string) func(tx *bolt.Tx) error {
		return func(tx *bolt.Tx) error { return tx.Bucket([]byte("tape")).Put([]byte("sealed"), []byte(text)) }
	}
	for _, tt := range []struct {
		name   string
		damage func(tx *bolt.Tx) error
	}{
		{"an earlier index of the last block", rename(0, true)},
		{"a later index of the last block", rename(65, true)},
		{"a later index of the first block", rename(65, false)},
		{"sealed to a later block", sealed("3 2097152 0")},
		{"sealed to another position", sealed("1 2097153 0")},
		{"sealed to a place that is none", sealed("1 -2097152 -5")},
		{"sealed to nowhere", sealed("?")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := orphan(t, killed)
			edit(t, filepath.Join(store.Dir(), "tapes", id+".db"), tt.damage)
			same(t, "in the journal", lines(t, open(t, store, id)), want)
			if last, err := open(t, store, id).Last(); err != nil || last != uint64(len(want)) {
				t.Errorf("the last frame is %d, %v, want %d", last, err, len(want))
			}
			sealAll(t, store)
			same(t, "recovered", lines(t, open(t, store, id)), want)
		})
	}
}
