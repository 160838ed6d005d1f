package linediff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/linediff"
)

func TestLines(t *testing.T) {
	tests := []struct{ a, b, want string }{
		{"", "", ""},
		{"a b c", "a x c", " a,-b,+x, c"},
		{"", "a b", "+a,+b"},
		{"a b", "", "-a,-b"},
		{"a b c", "a b c", " a, b, c"},
		{"t r t r t r", "t r t x t r", " t, r, t,-r,+x, t, r"},
	}
	for _, tt := range tests {
		if got := strings.Join(linediff.Lines(strings.Fields(tt.a), strings.Fields(tt.b)), ","); got != tt.want {
			t.Errorf("%q and %q: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// FuzzLines checks that both texts can be read out of what differs.
func FuzzLines(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc")
	f.Add("", "a")
	f.Add("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc")
	f.Fuzz(func(t *testing.T, before, after string) {
		a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
		lines := linediff.Lines(a, b)
		var old, new []string
		for _, line := range lines {
			if line[0] != '+' {
				old = append(old, line[1:])
			}
			if line[0] != '-' {
				new = append(new, line[1:])
			}
		}
		if !slices.Equal(old, a) || !slices.Equal(new, b) {
			t.Errorf("of %q and %q: %q", before, after, lines)
		}
	})
}
