//go:build unix

package main

import (
	"testing"

	"github.com/gdamore/tcell/v2"
)

// TestBackgroundIn reads terminals' answers to the question for their background.
func TestBackgroundIn(t *testing.T) {
	for answer, want := range map[string]tcell.Color{
		"\x1b]11;rgb:1a1a/1b1b/ffff\x1b\\\x1b[?64;1c": tcell.NewRGBColor(0x1a, 0x1b, 0xff),
		"\x1b]11;rgb:f/0/8\a\x1b[?6c":                 tcell.NewRGBColor(255, 0, 136),
		"\x1b]11;rgba:0000/0000/0000/ffff\a":          tcell.NewRGBColor(0, 0, 0),
		"\x1b[?6c":                                    tcell.ColorDefault,
		"":                                            tcell.ColorDefault,
	} {
		if got := backgroundIn([]byte(answer)); got != want {
			t.Errorf("%q: got %v, want %v", answer, got, want)
		}
	}
}
