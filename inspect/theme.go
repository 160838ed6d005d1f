package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/record/termtext"
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
		return fmt.Errorf("must be one of %s", strings.Join(Themes(), ", "))
	}
	*t = Theme(name)
	return nil
}

func (t *Theme) String() string { return string(*t) }

// Type says what Set takes.
func (t *Theme) Type() string { return "theme" }

// palettes have a colour for each style that has one.
var palettes = map[Theme]map[termtext.Style]tcell.Color{
	ANSI: {
		termtext.Red: tcell.ColorMaroon, termtext.Green: tcell.ColorGreen, termtext.Yellow: tcell.ColorOlive,
		termtext.Blue: tcell.ColorNavy, termtext.Magenta: tcell.ColorPurple, termtext.Cyan: tcell.ColorTeal,
	},
	Dark: {
		termtext.Red: tcell.NewHexColor(0xff6e67), termtext.Green: tcell.NewHexColor(0x8ccf7e), termtext.Yellow: tcell.NewHexColor(0xe5c76b),
		termtext.Blue: tcell.NewHexColor(0x71baf2), termtext.Magenta: tcell.NewHexColor(0xce89df), termtext.Cyan: tcell.NewHexColor(0x67cbe7),
		termtext.Dim: tcell.NewHexColor(0x8a929c),
	},
	Light: {
		termtext.Red: tcell.NewHexColor(0xb3261e), termtext.Green: tcell.NewHexColor(0x1e6f2c), termtext.Yellow: tcell.NewHexColor(0x7a5900),
		termtext.Blue: tcell.NewHexColor(0x1a56a8), termtext.Magenta: tcell.NewHexColor(0x8b2a8f), termtext.Cyan: tcell.NewHexColor(0x0b6a7c),
		termtext.Dim: tcell.NewHexColor(0x666c74),
	},
}

// looks are the styles of a theme.
type looks map[termtext.Style]tcell.Style

func (t Theme) looks() looks {
	l := looks{
		termtext.Plain:   tcell.StyleDefault,
		termtext.Bold:    tcell.StyleDefault.Bold(true),
		termtext.Dim:     tcell.StyleDefault.Dim(true),
		termtext.Reverse: tcell.StyleDefault.Reverse(true),
	}
	for _, s := range []termtext.Style{termtext.Red, termtext.Green, termtext.Yellow, termtext.Blue, termtext.Magenta, termtext.Cyan} {
		l[s] = tcell.StyleDefault
	}
	l[termtext.Red] = l[termtext.Red].Bold(true) // also seen where there are no colours
	for s, c := range palettes[t] {
		l[s] = tcell.StyleDefault.Foreground(c)
	}
	return l
}
