package wire_test

import (
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// A text is cut between characters; invalid UTF-8 stays unchanged.
func TestClip(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"1234", "1234"},
		{"12345", "1234…"},
		{"123é", "123…"},
		{"12é4", "12é…"},
		{"1🙂", "1…"},
		{"🙂🙂", "🙂…"},
		{"\xff12345", "\xff123…"},
		{"\x80\x80\x80\x80\x80\x80", "\x80…"},
	} {
		if got := wire.Clip(tt.text, 4); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
