package compare

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// someLines returns lines of words, as agents write them, and the bytes that they have.
func someLines(n int) (lines []string, size int) {
	words := strings.Fields("the parser reads each token of a line and then returns what it has found in the tree to the caller")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "      | %d", i)
		for range 12 {
			b.WriteString(" " + words[r.IntN(len(words))])
		}
		lines, size = append(lines, b.String()), size+b.Len()
	}
	return lines, size
}

// A sheet of several pages returns the added and the replaced lines, read in any order, even
// while it grows.
func TestSheet(t *testing.T) {
	lines, size := someLines(20_000)
	lines[17], lines[18] = "", "with\na line feed"
	if size < 3*pageSize {
		t.Fatalf("%d bytes are not several pages", size)
	}
	s := newSheet(maphash.MakeSeed())
	for i, line := range lines {
		s.add(line)
		if n := i / 3; i%997 == 0 && s.line(n) != lines[n] {
			t.Fatalf("after line %d, line %d: got %q, want %q", i, n, s.line(n), lines[n])
		}
	}
	s.replace(map[int]string{5000: "other", 9999: lines[3]})
	lines[5000], lines[9999] = "other", lines[3]
	for i, got := range s.all() {
		if got != lines[i] {
			t.Fatalf("line %d: got %q, want %q", i, got, lines[i])
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		if i := r.IntN(len(lines)); s.line(i) != lines[i] {
			t.Fatalf("line %d: got %q, want %q", i, s.line(i), lines[i])
		}
	}
	if s.sums[9999] != s.sums[3] || s.sums[5000] == s.sums[3] {
		t.Errorf("sums of replaced lines: %x and %x, of line 3 %x", s.sums[9999], s.sums[5000], s.sums[3])
	}
}

// A sheet takes less than half the memory of its text.
func TestMemoryOfSheet(t *testing.T) {
	lines, size := someLines(100_000)
	before := heap()
	s := sheetOf(maphash.MakeSeed(), lines)
	s.enc, s.dec = nil, nil // which take the same for any sheet
	if kept := heap() - before; kept > size/2 {
		t.Errorf("got %d bytes of memory for %d bytes of text, want at most half", kept, size)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(lines)
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
