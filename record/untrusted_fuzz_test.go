package record

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/tapeid"
	"github.com/acptap/acptap/record/testdata/memtest"
)

// FuzzRows takes any rows of a block: memory follows their bytes, and numbers rise.
func FuzzRows(f *testing.F) {
	entries := []entry{
		{Frame: dialect.Frame{Frame: wire.Frame{Seq: 7, Size: 3, Kind: wire.Request}, Annotation: dialect.Annotation{Method: "x", Session: "s"}}, stored: 3},
		{Frame: dialect.Frame{Frame: wire.Frame{Seq: 8, Size: 2, Untimed: true}, Annotation: dialect.Annotation{Request: 7}}, stored: 2},
	}
	rows := new(columns).encode(nil, entries, blockHead{})
	f.Add(rows, 2, uint64(7))
	f.Add(rows, 1<<40, uint64(1<<64-2))
	f.Add(make([]byte, 1<<12), 300, uint64(1))
	f.Add(new(columns).encode(nil, streamEntries, inStreams), 2, uint64(7))
	f.Fuzz(func(t *testing.T, rows []byte, n int, first uint64) {
		if len(rows) > maxPlain {
			return
		}
		memtest.Bound(t, func() {
			for _, needs := range []disk.Needs{nil, inStreams.Needs} {
				got, err := decodeColumns(rows, blockHead{Needs: needs, Entries: n, First: first}, nil)
				if err != nil {
					continue
				}
				last := uint64(0)
				for _, e := range got {
					if e.Seq < last || e.Seq > 2*portable.MaxSeq || e.Request > e.Seq || e.Size < 0 || e.lead < 0 || e.lead > maxPlain {
						t.Fatalf("frame %d behind %d answers %d and has %d bytes behind %d", e.Seq, last, e.Request, e.Size, e.lead)
					}
					last = e.Seq
				}
			}
		})
	})
}

var (
	inStreams     = blockHead{Needs: disk.Needs{disk.NeedsStreams}, Entries: 2, First: 7}
	streamEntries = []entry{
		{Frame: dialect.Frame{Frame: wire.Frame{Seq: 7, Size: 3, Kind: wire.Body, Stream: 70_000, Derived: true}}, stored: 3, lead: 9},
		{Frame: dialect.Frame{Frame: wire.Frame{Seq: 8, Size: 2, Kind: wire.Request, Stream: 1, Redelivered: true}}, stored: 2},
	}
)

// The columns of streams are read as they were written.
func TestStreamColumns(t *testing.T) {
	got, err := decodeColumns(new(columns).encode(nil, streamEntries, inStreams), inStreams, nil)
	if err != nil || !reflect.DeepEqual(got, streamEntries) {
		t.Errorf("got\n%+v, want\n%+v: %v", got, streamEntries, err)
	}
}

// Columns that are not known, and bits of a shape, are passed over.
func TestUnknownColumns(t *testing.T) {
	entries := []entry{
		{Frame: dialect.Frame{Frame: wire.Frame{Seq: 7, Size: 3, Kind: wire.Request}, Annotation: dialect.Annotation{Method: "x", Session: "s"}}, stored: 3},
		{Frame: dialect.Frame{Frame: wire.Frame{Seq: 8, Size: 2, Untimed: true}, Annotation: dialect.Annotation{Request: 7}}, stored: 2},
	}
	rows := new(columns).encode(nil, entries, blockHead{})
	shapes := bytes.Index(rows, []byte("x\x01s")) + 3
	rows[shapes+1] |= 0xc0
	rows = append(rows, 1, 1, 40, 40) // stream and lead
	got, err := decodeColumns(rows, blockHead{Entries: 2, First: 7}, nil)
	if err != nil || !reflect.DeepEqual(got, entries) {
		t.Errorf("got\n%+v, want\n%+v: %v", got, entries, err)
	}
}

// tapeOfOneFrame returns the file of a tape, and the id of the tape.
func tapeOfOneFrame(t testing.TB) (file []byte, id string) {
	t.Helper()
	store := OpenStore(t.TempDir())
	text := `{"acptap":1,"tape":"20260102T150405000-aaa111","started":"2026-01-02T15:04:05Z"}` + "\n" +
		`{"at":1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}}` + "\n"
	id, err := store.Import(bytes.NewReader([]byte(text)), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err = os.ReadFile(store.tapeFile(id).Path)
	if err != nil {
		t.Fatal(err)
	}
	return file, id
}

// readWhole reads what can be read of a tape's file: it ends, and nothing of it becomes a
// path.
func readWhole(t *testing.T, path string) {
	tape, err := OpenFile(path)
	if err != nil {
		return
	}
	if tape.ID() != "" && !tapeid.IsValid(tape.ID()) {
		t.Errorf("its id is %q", tape.ID())
	}
	n := 0
	for range tape.Frames(1) {
		if n++; n > 1000 {
			t.Fatal("it does not end")
		}
	}
	tape.Sessions()
}

// TestOneByteOfTape changes one byte in the file of a tape, each that is used and each next
// to one: none makes reading the tape take much memory.
func TestOneByteOfTape(t *testing.T) {
	whole, _ := tapeOfOneFrame(t)
	path := filepath.Join(t.TempDir(), "tape.db")
	for at := range whole {
		if bytes.Count(whole[max(0, at-3):min(at+3, len(whole))], []byte{0}) == 6 {
			continue
		}
		damaged := bytes.Clone(whole)
		damaged[at] = '0'
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readWhole(t, path)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
			t.Errorf("byte %d: %d MiB were allocated", at, n>>20)
		}
	}
}

// FuzzTapeFile changes the file of a tape in one place.
func FuzzTapeFile(f *testing.F) {
	whole, id := tapeOfOneFrame(f)
	f.Add(0, []byte{})
	for at := 0; at < len(whole); at += 4096 {
		f.Add(at+8, []byte{0xff, 0xff})
	}
	f.Add(bytes.Index(whole, []byte(id)), []byte("../../victim"))
	f.Fuzz(func(t *testing.T, at int, change []byte) {
		if at < 0 || at > len(whole) || len(change) > 4096 {
			return
		}
		path := filepath.Join(t.TempDir(), "tape.db")
		damaged := append(bytes.Clone(whole[:at]), change...)
		if len(damaged) < len(whole) {
			damaged = append(damaged, whole[len(damaged):]...)
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		memtest.Bound(t, func() { readWhole(t, path) })
	})
}
