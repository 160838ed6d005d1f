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
