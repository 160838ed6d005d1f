//go:build linux

package record_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

var roundTrips = []struct {
	name   string
	chunks func(yield func(dir wire.Direction, p []byte) bool)
}{
	{"a session", chunks(
		chunk{wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n"},
		chunk{wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}` + "\n"},
		chunk{wire.ClientToAgent, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}` + "\n"},
		chunk{wire.AgentToClient, `{"jsonrpc":"2.0","id":2,"result":{"sess`},
		chunk{wire.AgentStderr, "ready\n"},
		chunk{wire.AgentToClient, `ionId":"s1"}}` + "\n"},
	)},
	{"nothing", chunks()},
	{"no last newline", chunks(chunk{wire.AgentToClient, `{"jsonrpc":"2.0","id":2,"result":{}}`}, chunk{wire.AgentStderr, "bye"})},
	{"odd lines", chunks(
		chunk{wire.AgentToClient, "no JSON\n\n\r\n \n\x00\n\xff\xfe\n\"s\"\n7\nnull\n[]\n{}\n"},
		chunk{wire.AgentStderr, "\x00\x01\xb5\x61\x74\x9d\n\r\r\n"},
	)},
	{"line ends over chunks", chunks(
		chunk{wire.ClientToAgent, "{}\r"}, chunk{wire.AgentToClient, "{}"}, chunk{wire.ClientToAgent, "\n{}\r"},
		chunk{wire.ClientToAgent, "\r"}, chunk{wire.AgentToClient, "\r\n"}, chunk{wire.ClientToAgent, "\n"},
	)},
	{"a byte at a time", func(yield func(wire.Direction, []byte) bool) {
		for i, c := range []byte(strings.Repeat(`{"jsonrpc":"2.0","method":"m"}`+"\r\n", 300)) {
			if !yield(wire.Direction(i%2), []byte{c}) {
				return
			}
		}
	}},
	{"lines for a dozen blocks in one write", func(yield func(wire.Direction, []byte) bool) {
		yield(wire.AgentToClient, bytes.Repeat([]byte("{}\n"), less(200_000)))
	}},
	{"empty lines", chunks(chunk{wire.AgentToClient, strings.Repeat("\n", 50_000)})},
	{"a batch of many entries", chunks(chunk{wire.AgentToClient, "[1" + strings.Repeat(",1", 100_000) + "]\n"})},
	{"frames around the limits", func(yield func(wire.Direction, []byte) bool) {
		beside, ends := 2, []string{"\r\n", "\n"}
		if testing.Short() {
			beside, ends = 1, ends[:1]
		}
		for _, size := range []int{16 << 10, 256 << 10, wire.MaxChecked, 2 * wire.MaxChecked} {
			for n := size - beside; n <= size+beside; n++ {
				for _, end := range ends {
					if !yield(wire.AgentToClient, append(bytes.Repeat([]byte{'x'}, n), end...)) || !yield(wire.ClientToAgent, []byte("{}\n")) {
						return
					}
				}
			}
		}
	}},
	{"two frames of 16 MiB at once", func(yield func(wire.Direction, []byte) bool) {
		text := []byte(strings.Repeat("all work and no play ", 12<<10))
		for i := range less(16<<20) / len(text) * 2 {
			if !yield(wire.Direction(i%2), text) {
				return
			}
		}
		_ = yield(wire.ClientToAgent, []byte("\r\n")) && yield(wire.AgentToClient, []byte("\n{}\n"))
	}},
	{"16 MiB of brackets", func(yield func(wire.Direction, []byte) bool) {
		brackets := bytes.Repeat([]byte("["), 256<<10)
		for range less(64) {
			if !yield(wire.AgentToClient, brackets) {
				return
			}
		}
	}},
	{"requests without an answer", func(yield func(wire.Direction, []byte) bool) {
		for i := range less(15_000) {
			if !yield(wire.ClientToAgent, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"request %d","method":"session/prompt","params":{"sessionId":"s"}}`+"\n", i)) {
				return
			}
		}
	}},
}

func chunks(list ...chunk) func(func(wire.Direction, []byte) bool) {
	return func(yield func(wire.Direction, []byte) bool) {
		for _, c := range list {
			if !yield(c.dir, []byte(c.p)) {
				return
			}
		}
	}
}

// What comes back is what went by: from a tape that is being recorded, from one
// whose proxy was killed, and from one that has ended.
func TestRoundTrip(t *testing.T) {
	for _, tt := range roundTrips {
		t.Run(tt.name, func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			j := begin(t, store)
			want := newSums()
			for dir, p := range tt.chunks {
				want[dir].Write(p)
				if err := j.Append(dir, wire.Wire, p); err != nil {
					t.Fatal(err)
				}
			}
			killed := orphan(t, store)
			live := lines(t, open(t, store, j.Tape()))
			before, sum := read(t, open(t, killed, j.Tape()))
			sum.check(t, "killed", want)
			sealAll(t, killed)
			recovered, sum := read(t, open(t, killed, j.Tape()))
			same(t, "recovered", recovered, before)
			sum.check(t, "recovered", want)
			if unfinished := len(before) - len(live); unfinished < 0 || unfinished > int(wire.Directions) {
				t.Errorf("%d frames while it was recorded, %d after the proxy was killed", len(live), len(before))
			}
			same(t, "live", live, before[:len(live)])

			finish(t, store, j)
			sealed, sum := read(t, open(t, store, j.Tape()))
			same(t, "sealed", sealed[:len(live)], live)
			sum.check(t, "sealed", want)
		})
	}
}

// A part of a tape, of many blocks, has the frames that the tape has.
func TestPartOfTape(t *testing.T) {
	store, id, _, _ := sealedTape(t, 7000)
	whole := open(t, store, id)
	info, err := whole.Info()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	e, err := portable.NewExporter(&file, portable.Head{Tape: info.Tape, Start: info.Start}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	var seqs []uint64
	for f, err := range whole.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Seq%7 < 3 || f.Kind == wire.Request || 2000 < f.Seq && f.Seq < 5500 {
			continue
		}
		seqs = append(seqs, f.Seq)
		want = append(want, fmt.Sprintf("%d %v %s", f.Seq, f.Dir, f.Raw))
		if err := e.Write(whole, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := record.ReadPortable(bytes.NewReader(file.Bytes()), "file")
	if err != nil {
		t.Fatal(err)
	}
	other := record.OpenStore(t.TempDir())
	id, err = other.Import(bytes.NewReader(file.Bytes()), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tape := range map[string]*record.Tape{"read": read, "imported": open(t, other, id)} {
		var got []string
		for f, err := range tape.Frames(1) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %v %s", f.Seq, f.Dir, f.Raw))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the frames are not those of the tape: %d, want %d", name, len(got), len(want))
		}
		for i := 0; i < len(seqs); i += 997 {
			if f, err := tape.Frame(seqs[i]); err != nil || f.Seq != seqs[i] {
				t.Errorf("%s: frame %d: got %d, %v", name, seqs[i], f.Seq, err)
			}
		}
		if _, err := tape.Frame(4000); err == nil {
			t.Errorf("%s: has frame 4000, which was left out", name)
		}
	}
}

// Of imports of one tape at once, one has its id, and all are whole.
func TestImportAtOnce(t *testing.T) {
	from, id, _, _ := sealedTape(t, 1500)
	text := exported(t, open(t, from, id), true)
	store := record.OpenStore(t.TempDir())
	const n = 4
	ids := make([]string, n)
	var imports sync.WaitGroup
	for i := range n {
		imports.Go(func() {
			var err error
			if ids[i], err = store.Import(strings.NewReader(text), "file", nil); err != nil {
				t.Error(err)
			}
		})
	}
	imports.Wait()
	if !slices.Contains(ids, id) {
		t.Errorf("imported as %v, none as %s", ids, id)
	}
	want := lines(t, open(t, from, id))
	for _, got := range ids {
		same(t, "imported as "+got, lines(t, open(t, store, got)), want)
	}
	l, err := store.List()
	if err != nil || len(l.Tapes) != n || len(l.Broken) > 0 {
		t.Errorf("listed: %d tapes, %v, %v", len(l.Tapes), l.Broken, err)
	}
	for _, dir := range []string{"live", "tapes"} {
		left, err := os.ReadDir(filepath.Join(store.Dir(), dir))
		if err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) != ".db" }) {
			t.Errorf("left in %s: %v, %v", dir, left, err)
		}
	}
}

// Neither recording nor reading holds what passes: not a long tape, and not a
// frame of 64 MiB.
func TestMemory(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	before := liveHeap()
	most := before
	j := begin(t, store)
	text := []byte(strings.Repeat("all work and no play ", 12<<10))
	look := func() { most = max(most, liveHeap()) }
	for i := range less(64<<20) / len(text) * 2 {
		j.Append(wire.Direction(i%2), wire.Wire, text)
		if i%64 == 0 {
			look()
		}
	}
	gen := newTraffic(10)
	for range less(50_000) {
		dir, p := gen.next()
		j.Append(dir, wire.Wire, p)
	}
	finish(t, store, j)
	look()
	tape := open(t, store, j.Tape())
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Size > wire.MaxChecked {
			look()
			if err := tape.WriteFrame(lookWriter(look), f.Seq); err != nil {
				t.Fatal(err)
			}
		} else if f.Seq%5000 == 0 {
			look()
		}
	}
	if limit := uint64(32 << 20); most > before+limit {
		t.Errorf("the heap grew by %d MiB, more than %d", (most-before)>>20, limit>>20)
	}
}

// liveHeap returns the bytes that are in use now.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type lookWriter func()

func (w lookWriter) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

// A dissector restored from the state of any block gives the same result.
func TestReadingAtAnyTime(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	gen := newTraffic(1)
	seen := map[uint64]line{}
	var killed []*record.Store
	rounds, frames := 60, 600
	if testing.Short() {
		rounds, frames = 20, 150 // a block and a half
	}
	for i := range rounds {
		for range frames {
			dir, p := gen.next()
			half := len(p) / 2 // so that readers find unfinished lines
			j.Append(dir, wire.Wire, p[:half])
			j.Append(wire.AgentStderr, wire.Wire, p[half:len(p)-1])
			j.Append(dir, wire.Wire, p[half:])
		}
		if i%20 == 10 {
			killed = append(killed, orphan(t, store))
		}
		tape := open(t, store, j.Tape())
		last, err := tape.Last()
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range tape.Frames(max(last, 1000) - 900) {
			if err != nil {
				t.Fatal(err)
			}
			seen[f.Seq] = lineOf(f)
		}
	}
	finish(t, store, j)
	want := lines(t, open(t, store, j.Tape()))
	for seq, got := range seen {
		if got != want[seq-1] {
			t.Errorf("frame %d was\n%+v\nand is\n%+v", seq, got, want[seq-1])
		}
	}
	for _, k := range killed {
		sealAll(t, k)
		got := lines(t, open(t, k, j.Tape()))
		whole := len(got) - int(wire.Directions) // the unfinished ones are finished otherwise
		same(t, "recovered", got[:whole], want[:whole])
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, tt := range roundTrips[:5] {
		var all []byte
		for _, p := range tt.chunks {
			all = append(all, p...)
		}
		f.Add(all, []byte{7, 200, 3})
	}
	f.Fuzz(func(t *testing.T, data, cuts []byte) {
		store := record.OpenStore(t.TempDir())
		j := begin(t, store)
		want := newSums()
		for i := 0; len(data) > 0; i++ {
			cut := byte(20)
			if len(cuts) > 0 {
				cut = cuts[i%len(cuts)]
			}
			p := data[:min(len(data), int(cut>>2)+1)]
			data = data[len(p):]
			dir := wire.Direction(cut&3) % wire.Directions
			want[dir].Write(p)
			j.Append(dir, wire.Wire, p)
		}
		live := lines(t, open(t, store, j.Tape()))
		j.Close()
		sealAll(t, store)
		j.Wait()
		tape := open(t, store, j.Tape())
		sealed, sum := read(t, tape)
		if len(sealed) < len(live) {
			t.Fatalf("%d frames were seen, %d are on the tape", len(live), len(sealed))
		}
		same(t, "live", live, sealed[:len(live)])
		sum.check(t, "sealed", want)
		var rows int
		for row, err := range tape.Rows(1) {
			if err != nil || row.Seq != uint64(rows+1) {
				t.Fatalf("row %d has the number %d: %v", rows+1, row.Seq, err)
			}
			rows++
		}
		if rows != len(sealed) {
			t.Errorf("%d rows, %d frames", rows, len(sealed))
		}
	})
}

// The description of a tape's beginning is truncated if it would fill the segment, because
// the traffic matters more.
func TestLongStart(t *testing.T) {
	long := strings.Repeat("\x01", 200<<10) // six bytes each as JSON
	store := record.OpenStore(t.TempDir())
	j := recordtest.Record(t, store, record.Start{Command: []string{"agent", long}, Cwd: long, Name: long, Version: long})
	j.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
	finish(t, store, j)
	info, err := open(t, store, j.Tape()).Info()
	if s := info.Start; err != nil || info.Frames != 1 || s.Command[0] != "agent" || !strings.HasPrefix(s.Name, long[:1000]) || !strings.HasPrefix(s.Cwd, long[:1000]) {
		t.Errorf("got %.100v, %v", info, err)
	}
}

// The wall clock is recorded only in headers: times and numbers do not depend on it.
func TestClockSetBack(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	gen := newTraffic(2)
	for range 7000 {
		dir, p := gen.next()
		j.Append(dir, wire.Wire, p)
	}
	killed := orphan(t, store)
	tape := j.Tape()
	want := lines(t, open(t, killed, tape))
	segments := segmentsOf(t, killed)
	for i, path := range segments[1:] {
		rewriteHead(t, path, `"wall":"20`, fmt.Sprintf(`"wall":"1%d`, i%10))
	}
	same(t, "with the clock set back", lines(t, open(t, killed, tape)), want)
	sealAll(t, killed)
	same(t, "recovered", lines(t, open(t, killed, tape)), want)
	finish(t, store, j)
}

// rewriteHead replaces text in the header of a segment by text of the same
// length, and its check sum.
func rewriteHead(t testing.TB, path, old, new string) {
	t.Helper()
	b := readFile(t, path)
	size := int(binary.LittleEndian.Uint32(b[8:]))
	if size == 0 {
		return // opened ahead
	}
	head := b[16 : 16+size]
	if !bytes.Contains(head, []byte(old)) || len(old) != len(new) {
		t.Fatalf("%s: no %s in %s", path, old, head)
	}
	copy(head, bytes.Replace(head, []byte(old), []byte(new), 1))
	binary.LittleEndian.PutUint32(b[12:], castagnoli(head))
	writeFile(t, path, slices.Clone(b))
}
