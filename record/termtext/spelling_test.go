package termtext_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/record/termtext"
)

func TestNear(t *testing.T) {
	words := []string{"claude", "gemini", "gemini-2", "goose", "", "Codex", "claude"}
	for _, tt := range []struct {
		word string
		want []string
	}{
		{"clade", []string{"claude"}},
		{"gem", []string{"gemini", "gemini-2"}},
		{"gemini-3", []string{"gemini-2", "gemini"}},
		{"codex", []string{"Codex"}},
		{"zebra", nil},
		{"", nil},
	} {
		if got := termtext.Near(tt.word, words); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.word, got, tt.want)
		}
	}
}
