package compare

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record/linediff"
)

// hunksOf compares two lists of lines.
func hunksOf(a, b []string) []Hunk {
	seed := maphash.MakeSeed()
	return hunks(sheetOf(seed, a), sheetOf(seed, b))
}

func TestWriteUnified(t *testing.T) {
	lines := func(s string) []string { return strings.Split(s, " ") }
	tests := []struct {
		name string
		a, b []string
		want string
	}{
		{"same", lines("a b c"), lines("a b c"), ""},
		{"both empty", nil, nil, ""},
		{"all new", nil, lines("a b"), "--- old\n+++ new\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"all gone", lines("a"), nil, "--- old\n+++ new\n@@ -1 +0,0 @@\n-a\n"},
		{"one of many", lines("1 2 3 4 5 6 7 8 9"), lines("1 2 3 4 x 6 7 8 9"),
			"--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
		{"two hunks", lines("a 1 2 3 4 5 6 7 b"), lines("x 1 2 3 4 5 6 7 y"),
			"--- old\n+++ new\n@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n"},
		{"one hunk", lines("a 1 2 3 4 5 6 b"), lines("x 1 2 3 4 5 6 y"),
			"--- old\n+++ new\n@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n"},
		{"lines that come twice", lines("t r t r t r"), lines("t r t x t r"),
			"--- old\n+++ new\n@@ -1,6 +1,6 @@\n t\n r\n t\n-r\n+x\n t\n r\n"},
		{"controls", []string{"\x1b[31m"}, []string{"\x1b[32m\u202e"}, "--- old\n+++ new\n@@ -1 +1 @@\n-␛[31m\n+␛[32m\ufffd\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := (Diff{Hunks: hunksOf(tt.a, tt.b)}).WriteUnified(&b, "old", "new"); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got %q\nwant %q", b.String(), tt.want)
			}
		})
	}
}

// The script is a shortest one, and its hunks make the one text of the other.
func TestHunksRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := func() []string {
		s := make([]string, r.IntN(40))
		for i := range s {
			s[i] = fmt.Sprint(r.IntN(5))
		}
		return s
	}
	for range 2000 {
		a, b := list(), list()
		n := 0
		for _, m := range linediff.Common(a, b) {
			if !slices.Equal(a[m.A:m.A+m.N], b[m.B:m.B+m.N]) {
				t.Fatalf("%v %v: match %v", a, b, m)
			}
			n += m.N
		}
		if want := longest(a, b); n != want {
			t.Fatalf("%v %v: got %d lines in common, want %d", a, b, n, want)
		}
		if got := patched(a, hunksOf(a, b)); !slices.Equal(got, b) {
			t.Fatalf("%v %v: got %v", a, b, got)
		}
	}
}

// longest returns the length of a longest common subsequence, by its definition.
func longest(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		last := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = last + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			last = above
		}
	}
	return row[len(b)]
}

// patched applies hunks to a.
func patched(a []string, list []Hunk) []string {
	var b []string
	i := 0
	for _, h := range list {
		b = append(b, a[i:h.Old-1]...)
		i = h.Old - 1
		for l := range h.Lines {
			if l.Op != Old {
				b = append(b, l.Text)
			}
			if l.Op != New {
				i++
			}
		}
	}
	return append(b, a[i:]...)
}

// Texts that have nothing in common take bounded time.
func TestHunksDiffer(t *testing.T) {
	a, b := make([]string, 100_000), make([]string, 100_000)
	for i := range a {
		a[i], b[i] = fmt.Sprint("a", i), fmt.Sprint("b", i)
	}
	began := time.Now()
	if list := hunksOf(a, b); len(list) != 1 || list[0].count(Old)+list[0].count(New) != len(a)+len(b) {
		t.Errorf("got %d hunks", len(list))
	}
	if d := time.Since(began); d > time.Minute {
		t.Errorf("took %v", d)
	}
}
