package screen

import (
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/record/termtext"
)

// TestRolesDiffer: in each theme with colours, and on each terminal, no two roles look
// the same, nor like plain text. Without colours only failures and what repeats do.
func TestRolesDiffer(t *testing.T) {
	roles := []termtext.Style{termtext.Plain, termtext.Bold, termtext.Repeats, termtext.Reverse, termtext.Conversation, termtext.Tools, termtext.Permission,
		termtext.Services, termtext.LifeCycle, termtext.Failure}
	for _, theme := range []Theme{ANSI, Dark, Light} {
		for _, colours := range []int{8, 16, 256, 1 << 24} {
			var palette []tcell.Color
			for i := range min(colours, 256) {
				palette = append(palette, tcell.PaletteColor(i))
			}
			seen := map[tcell.Style]termtext.Style{}
			for _, role := range roles {
				look := theme.looks(colours, tcell.ColorDefault)[role]
				if fg, _, attr := look.Decompose(); fg != tcell.ColorDefault && colours <= 256 {
					look = tcell.StyleDefault.Foreground(tcell.FindColor(fg, palette)).Attributes(attr)
				}
				if other, ok := seen[look]; ok {
					t.Errorf("%s in %d colours: %q looks like %q", theme, colours, role, other)
				}
				seen[look] = role
			}
		}
	}
	mono := Mono.looks(256, tcell.ColorDefault)
	for _, role := range roles {
		if fg, bg, _ := mono[role].Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
			t.Errorf("mono: %q has a colour", role)
		}
	}
	if mono[termtext.Failure] == mono[termtext.Plain] || mono[termtext.Repeats] == mono[termtext.Plain] {
		t.Error("mono: failures and what repeats look like the rest")
	}
}

// TestSelection: the selected line keeps its colours where it is known what stands out from
// the background, and is reversed elsewhere.
func TestSelection(t *testing.T) {
	dark, light := tcell.NewRGBColor(0x1a, 0x1b, 0x1e), tcell.NewRGBColor(255, 255, 255)
	for _, tt := range []struct {
		theme      Theme
		colours    int
		background tcell.Color
		want       tcell.Color // ColorDefault: reversed
	}{
		{ANSI, 256, tcell.ColorDefault, tcell.ColorDefault},
		{ANSI, 256, dark, darkSelection},
		{ANSI, 1 << 24, light, lightSelection},
		{ANSI, 16, dark, tcell.ColorDefault},
		{Dark, 256, light, darkSelection},
		{Light, 256, tcell.ColorDefault, lightSelection},
		{Mono, 256, dark, tcell.ColorDefault},
	} {
		screen := tcell.NewSimulationScreen("UTF-8")
		if err := screen.Init(); err != nil {
			t.Fatal(err)
		}
		screen.SetSize(10, 1)
		canvas{screen: screen, looks: tt.theme.looks(tt.colours, tt.background), w: 10, h: 1}.spans(0, []termtext.Span{termtext.Cyan.Span("ls")}, true)
		_, _, look, _ := screen.GetContent(0, 0)
		_, _, end, _ := screen.GetContent(9, 0)
		fg, bg, attributes := look.Decompose()
		_, last, _ := end.Decompose()
		reversed := attributes&tcell.AttrReverse != 0
		if want := tt.want == tcell.ColorDefault; reversed != want || !want && (bg != tt.want || last != tt.want || fg == tcell.ColorDefault) {
			t.Errorf("%s in %d colours on %v: got %v on %v to %v, reversed %v; want %v", tt.theme, tt.colours, tt.background, fg, bg, last, reversed, tt.want)
		}
	}
}
