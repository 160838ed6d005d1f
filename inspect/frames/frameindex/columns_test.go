package frameindex

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// Numbers of frames may jump, and memory follows the frames.
func TestNumbersJump(t *testing.T) {
	var want []uint64
	var text strings.Builder
	add := func(seq uint64) {
		want = append(want, seq)
		kind := `"method":"x","id":1`
		if len(want)%2 == 0 {
			kind = `"result":{},"id":1`
		}
		fmt.Fprintf(&text, `{"seq":%d,"dir":"%s","frame":{"jsonrpc":"2.0",%s}}`+"\n", seq, []string{"c2a", "a2c"}[(len(want)-1)%2], kind)
	}
	for seq := range uint64(100) {
		add(seq + 3)
	}
	for i := range uint64(2000) {
		add(1000 + i<<16)
	}
	add(1<<47 - 1)
	add(1 << 47)
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := OpenTimeline("tape", func() ([]*record.Tape, error) {
		tape, err := record.OpenFile(path)
		return []*record.Tape{tape}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := NewIndex(func() {})
	l.Read(context.Background(), r)
	var m Matches
	query, err := filter.Parse("x | kind:response")
	if err != nil {
		t.Fatal(err)
	}
	s := &Scan{Matcher: NewMatcher(query, r.start()), Index: l, OnFirst: func() {}, OnMore: func() {}}
	s.Read(context.Background(), r)
	m.Add(s.Take())
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("%d frames took %d MiB", len(want), took>>20)
	}
	var c Columns
	c, _, _, _ = l.current()
	var each, forward, backwards, rows []uint64
	c.each(1, c.Last, func(f *dialect.Frame) { each = append(each, f.Seq) })
	c.Seek(1, 1, func(f *dialect.Frame) bool { forward = append(forward, f.Seq); return false })
	c.Seek(c.Last, Backward, func(f *dialect.Frame) bool { backwards = append(backwards, f.Seq); return false })
	slices.Reverse(backwards)
	for i := range m.All.Len() {
		rows = append(rows, m.All.At(i))
	}
	for name, got := range map[string][]uint64{"each": each, "seek": forward, "seek backward": backwards, "rows": rows} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %d frames, %v…, want %d, %v…", name, len(got), got[:min(len(got), 3)], len(want), want[:3])
		}
	}
	for i, seq := range want {
		for d := -2; d <= 2; d++ {
			near := seq + uint64(d)
			place, there := slices.BinarySearch(want, near)
			if n, found := c.below(near); n != place || found != there {
				t.Fatalf("below(%d): got %d, %v, want %d, %v", near, n, found, place, there)
			}
			if got := m.All.Has(near); got != there {
				t.Fatalf("has(%d): got %v, want %v", near, got, there)
			}
			if got := m.All.Below(near); got != place {
				t.Fatalf("hits below %d: got %d, want %d", near, got, place)
			}
		}
		if got := c.ahead(seq, 1); got != want[min(i+1, len(want)-1)] {
			t.Fatalf("ahead of %d: got %d", seq, got)
		}
	}
	if got := c.Seek(c.Last+1, Backward, func(*dialect.Frame) bool { return true }); got != 0 {
		t.Errorf("behind the end: got frame %d", got)
	}
}
