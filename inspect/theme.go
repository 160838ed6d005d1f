package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
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
var palettes = map[Theme]map[style]tcell.Color{
	ANSI: {
		red: tcell.ColorMaroon, green: tcell.ColorGreen, yellow: tcell.ColorOlive,
		blue: tcell.ColorNavy, magenta: tcell.ColorPurple, cyan: tcell.ColorTeal,
	},
	Dark: {
		red: tcell.NewHexColor(0xff6e67), green: tcell.NewHexColor(0x8ccf7e), yellow: tcell.NewHexColor(0xe5c76b),
		blue: tcell.NewHexColor(0x71baf2), magenta: tcell.NewHexColor(0xce89df), cyan: tcell.NewHexColor(0x67cbe7),
		dim: tcell.NewHexColor(0x8a929c),
	},
	Light: {
		red: tcell.NewHexColor(0xb3261e), green: tcell.NewHexColor(0x1e6f2c), yellow: tcell.NewHexColor(0x7a5900),
		blue: tcell.NewHexColor(0x1a56a8), magenta: tcell.NewHexColor(0x8b2a8f), cyan: tcell.NewHexColor(0x0b6a7c),
		dim: tcell.NewHexColor(0x666c74),
	},
}

// looks are the styles of a theme.
type looks map[style]tcell.Style

func (t Theme) looks() looks {
	l := looks{
		plain:   tcell.StyleDefault,
		bold:    tcell.StyleDefault.Bold(true),
		dim:     tcell.StyleDefault.Dim(true),
		reverse: tcell.StyleDefault.Reverse(true),
	}
	for _, s := range []style{red, green, yellow, blue, magenta, cyan} {
		l[s] = tcell.StyleDefault
	}
	l[red] = l[red].Bold(true) // also seen where there are no colours
	for s, c := range palettes[t] {
		l[s] = tcell.StyleDefault.Foreground(c)
	}
	return l
}
