package screen

import (
	"strings"
	"testing"
	"unicode"

	"github.com/gdamore/tcell/v2"
	"github.com/mattn/go-runewidth"

	"github.com/acptap/acptap/record/termtext"
)

// canvasTests are texts from the wire and what of them stands in cells: a wide
// character takes two, the second is · here.
var canvasTests = []struct{ name, text, want string }{
	{"plain", "ab", "ab"},
	{"wide", "世界", "世·界·"},
	{"wide at the cut", "abcdefgh世界", "abcdefgh…"},
	{"wide at the end", "abcdefgh世", "abcdefgh世·"},
	{"cut", "abcdefghijk", "abcdefghi…"},
	{"fits", "abcdefghij", "abcdefghij"},
	{"combining", "e\u0301x", "e\u0301x"},
	{"nothing to combine with", "\u0301x", "x"},
	{"flag", "🇩🇪x", "🇩🇪x"},
	{"half a flag", "🇩x", "🇩 x"},
	{"joined emoji", "👩\u200d👩\u200d👧x", "👩·x"},
	{"skin", "👍🏽x", "👍·x"},
	{"emoji by selector", "❤\ufe0fx", "❤ x"},
	{"text by selector", "⌚\ufe0ex", " x"},
	{"keycap", "1\ufe0f\u20e3x", "1\u20e3x"},
	{"tags", "🏴\U000e0067\U000e007fx", "🏴·x"},
	{"mark with room", "किx", "किx"},
	{"jamo", "\u1112\u1161\u11abx", "\u1112\u1161\u11ab·x"},
	{"invisible", "\u200b\u00ad\u2060\ufeffx", "x"},
	{"very wide", "⸻x", "⸻   x"},
	{"control", "a\x1b[31mb\x00\x07\tc", "ab␀␇ c"},
	{"direction", "a\u202eb\u2066", "a�b�"},
	{"invalid", "a\xff\xc3b", "a��b"},
}

// inTen returns the cells of a canvas of ten columns. The cells around it must be empty.
func inTen(t testing.TB, screen tcell.SimulationScreen, text string) string {
	t.Helper()
	screen.Clear()
	canvas{screen: screen, looks: ANSI.looks(256, tcell.ColorDefault), w: 10, h: 1}.text(0, 0, termtext.Plain, text)
	screen.Show()
	var b strings.Builder
	cells, width, _ := screen.GetContents()
	for x := 0; x < width; x++ {
		runes := cells[x].Runes
		for i, r := range runes {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || i == 0 && unicode.In(r, unicode.Mn, unicode.Me) {
				t.Errorf("%q: %q in column %d", text, runes, x)
			}
			if x >= 10 && r != ' ' {
				t.Errorf("%q: %q in column %d, beside the canvas", text, runes, x)
			}
			b.WriteRune(r)
		}
		if len(runes) > 0 && runewidth.RuneWidth(runes[0]) == 2 {
			if x == 9 {
				t.Errorf("%q: %q has no room", text, runes)
			}
			b.WriteRune('·')
			x++
		}
	}
	return strings.TrimRight(b.String(), " ")
}

func newScreen(t testing.TB) tcell.SimulationScreen {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Fini)
	screen.SetSize(14, 1)
	return screen
}

// TestCanvas checks that text takes the number of columns that was computed for it, in
// terminals with and without support for joined emoji.
func TestCanvas(t *testing.T) {
	screen := newScreen(t)
	for _, tt := range canvasTests {
		got := inTen(t, screen, termtext.Brief(tt.text, 100))
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// FuzzCanvas holds that no text leaves its columns, or puts anything into a cell
// that a terminal would not print.
func FuzzCanvas(f *testing.F) {
	for _, tt := range canvasTests {
		f.Add(tt.text)
	}
	screen := newScreen(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{termtext.Line(text), termtext.Brief(text, 100)} {
			inTen(t, screen, text)
		}
	})
}
