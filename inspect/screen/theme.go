package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/record/termtext"
)

// A Theme is a set of colours.
type Theme string

const (
	// ANSI leaves the colours to the terminal: its background and its 16-colour palette.
	ANSI Theme = "ansi"

	Dark  Theme = "dark"  // for a dark background and at least 256 colours; otherwise ANSI
	Light Theme = "light" // for a light background and at least 256 colours; otherwise ANSI
	Mono  Theme = "mono"  // no colours
)

// Themes returns the themes' names.
func Themes() []string { return []string{string(ANSI), string(Dark), string(Light), string(Mono)} }

// Set accepts one of Themes.
func (t *Theme) Set(name string) error {
	if !slices.Contains(Themes(), name) {
		return fmt.Errorf("must be one of %s", strings.Join(Themes(), ", "))
	}
	*t = Theme(name)
	return nil
}

func (t *Theme) String() string { return string(*t) }

// Type names the flag's type.
func (t *Theme) Type() string { return "theme" }

// palettes map styles to colours.
var palettes = map[Theme]map[termtext.Style]tcell.Color{
	ANSI: {
		termtext.Red: tcell.ColorMaroon, termtext.Green: tcell.ColorGreen, termtext.Yellow: tcell.ColorOlive,
		termtext.Blue: tcell.ColorBlue, termtext.Magenta: tcell.ColorPurple, termtext.Cyan: tcell.ColorTeal,
		termtext.Azure: tcell.ColorAqua,
	},
	Dark: {
		termtext.Red: tcell.NewHexColor(0xff6e67), termtext.Green: tcell.NewHexColor(0x8ccf7e), termtext.Yellow: tcell.NewHexColor(0xe5c76b),
		termtext.Blue: tcell.NewHexColor(0x71baf2), termtext.Magenta: tcell.NewHexColor(0xce89df), termtext.Cyan: tcell.NewHexColor(0x67cbe7),
		termtext.Azure: tcell.NewHexColor(0xa7b8ff),
		termtext.Dim:   tcell.NewHexColor(0x8a929c),
	},
	Light: {
		termtext.Red: tcell.NewHexColor(0xb3261e), termtext.Green: tcell.NewHexColor(0x1e6f2c), termtext.Yellow: tcell.NewHexColor(0x7a5900),
		termtext.Blue: tcell.NewHexColor(0x1a56a8), termtext.Magenta: tcell.NewHexColor(0x8b2a8f), termtext.Cyan: tcell.NewHexColor(0x0b6a7c),
		termtext.Azure: tcell.NewHexColor(0x4a3fb5),
		termtext.Dim:   tcell.NewHexColor(0x666c74),
	},
}

// Styles of what is under the cursor: a match, and a line.
const (
	currentMatch termtext.Style = "current match"
	selection    termtext.Style = "selection"
)

// Backgrounds of the selected line on a dark and on a light screen.
var (
	darkSelection  = tcell.NewHexColor(0x323a47)
	lightSelection = tcell.NewHexColor(0xd9e2ee)
)

// selection returns the style of the selected line, or reverse video if the theme's
// background is unknown or there are too few colours for a tint.
func (t Theme) selection(colours int, background tcell.Color) tcell.Style {
	dark := t == Dark
	if t == ANSI && background.Valid() {
		r, g, b := background.RGB()
		dark = 2*r+5*g+b < 8*128
	}
	switch {
	case colours < 256, t == Mono, t == ANSI && !background.Valid():
		return tcell.StyleDefault.Reverse(true)
	case dark:
		return tcell.StyleDefault.Background(darkSelection)
	}
	return tcell.StyleDefault.Background(lightSelection)
}

// looks maps styles to how they are drawn.
type looks map[termtext.Style]tcell.Style

// looks returns the theme's styles for a terminal with the given number of colours and
// background, if that is known.
func (t Theme) looks(colours int, background tcell.Color) looks {
	if colours < 256 && t != Mono {
		t = ANSI // several colours often have the same nearest one among 16
	}
	l := looks{
		termtext.Plain:   tcell.StyleDefault,
		termtext.Bold:    tcell.StyleDefault.Bold(true),
		termtext.Dim:     tcell.StyleDefault.Dim(true),
		termtext.Reverse: tcell.StyleDefault.Reverse(true),
	}
	for _, s := range []termtext.Style{termtext.Red, termtext.Green, termtext.Yellow, termtext.Blue, termtext.Magenta, termtext.Cyan, termtext.Azure} {
		l[s] = tcell.StyleDefault
	}
	l[currentMatch] = tcell.StyleDefault.Background(tcell.ColorOlive).Foreground(tcell.ColorBlack)
	l[selection] = t.selection(colours, background)
	if t == Mono {
		l[currentMatch] = tcell.StyleDefault.Reverse(true).Bold(true).Underline(true)
	}
	l[termtext.Red] = l[termtext.Red].Bold(true) // visible without colours too
	for s, c := range palettes[t] {
		l[s] = tcell.StyleDefault.Foreground(c)
	}
	if colours < 16 && t == ANSI {
		l[termtext.Blue] = l[termtext.Blue].Bold(true) // bold makes it bright
	}
	return l
}
