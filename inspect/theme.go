package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/record/trace/ansi"
)

// A Theme says which colours the screen has.
type Theme string

const (
	// ANSI leaves the choice of colours to the terminal: its background, and its
	// palette of 16.
	ANSI Theme = "ansi"

	Dark  Theme = "dark"  // for a dark background, in 256 colours or more
	Light Theme = "light" // for a light background, in 256 colours or more
	Mono  Theme = "mono"  // no colours
)

// Themes returns the names of the themes.
func Themes() []string { return []string{string(ANSI), string(Dark), string(Light), string(Mono)} }

// Set takes one of Themes.
func (t *Theme) Set(name string) error {
	if !slices.Contains(Themes(), name) {
		return fmt.Errorf("there are %s", strings.Join(Themes(), ", "))
	}
	*t = Theme(name)
	return nil
}

func (t *Theme) String() string { return string(*t) }

// Type says what Set takes.
func (t *Theme) Type() string { return "theme" }

// palettes have a colour for each style that has one.
var palettes = map[Theme]map[ansi.Style]tcell.Color{
	ANSI: {
		ansi.Red: tcell.ColorMaroon, ansi.Green: tcell.ColorGreen, ansi.Yellow: tcell.ColorOlive,
		ansi.Blue: tcell.ColorNavy, ansi.Magenta: tcell.ColorPurple, ansi.Cyan: tcell.ColorTeal,
	},
	Dark: {
		ansi.Red: tcell.NewHexColor(0xff6e67), ansi.Green: tcell.NewHexColor(0x8ccf7e), ansi.Yellow: tcell.NewHexColor(0xe5c76b),
		ansi.Blue: tcell.NewHexColor(0x71baf2), ansi.Magenta: tcell.NewHexColor(0xce89df), ansi.Cyan: tcell.NewHexColor(0x67cbe7),
		ansi.Dim: tcell.NewHexColor(0x8a929c),
	},
	Light: {
		ansi.Red: tcell.NewHexColor(0xb3261e), ansi.Green: tcell.NewHexColor(0x1e6f2c), ansi.Yellow: tcell.NewHexColor(0x7a5900),
		ansi.Blue: tcell.NewHexColor(0x1a56a8), ansi.Magenta: tcell.NewHexColor(0x8b2a8f), ansi.Cyan: tcell.NewHexColor(0x0b6a7c),
		ansi.Dim: tcell.NewHexColor(0x666c74),
	},
}

// looks are the styles of a theme.
type looks map[ansi.Style]tcell.Style

func (t Theme) looks() looks {
	l := looks{
		ansi.Plain:   tcell.StyleDefault,
		ansi.Bold:    tcell.StyleDefault.Bold(true),
		ansi.Dim:     tcell.StyleDefault.Dim(true),
		ansi.Reverse: tcell.StyleDefault.Reverse(true),
	}
	for _, s := range []ansi.Style{ansi.Red, ansi.Green, ansi.Yellow, ansi.Blue, ansi.Magenta, ansi.Cyan} {
		l[s] = tcell.StyleDefault
	}
	l[ansi.Red] = l[ansi.Red].Bold(true) // also seen where there are no colours
	for s, c := range palettes[t] {
		l[s] = tcell.StyleDefault.Foreground(c)
	}
	return l
}
