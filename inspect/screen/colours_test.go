package screen_test

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/mattn/go-runewidth"

	"github.com/acptap/acptap/inspect/screen"
)

// hueLetters are the letters for the colours of the theme ansi.
var hueLetters = map[tcell.Color]byte{
	tcell.ColorGreen:  'c', // conversation
	tcell.ColorTeal:   't', // tools
	tcell.ColorOlive:  'p', // permission
	tcell.ColorPurple: 's', // services
	tcell.ColorBlue:   'l', // life cycle
	tcell.ColorMaroon: 'F', // failure
}

// screenHues returns a letter for each cell: that of its colour, - for what is dim, B
// for what is bold, R for what is reversed, M for the current match, U for what is underlined, and a point for
// anything else. Blanks are blank unless they are reversed or underlined.
func screenHues(cells []tcell.SimCell, width, height int) string {
	var b strings.Builder
	for y := range height {
		var line strings.Builder
		for x := 0; x < width; x++ {
			c := cells[y*width+x]
			fg, background, attr := c.Style.Decompose()
			letter, hue := hueLetters[fg]
			switch {
			case background == tcell.ColorOlive:
				letter = 'M'
			case attr&tcell.AttrReverse != 0:
				letter = 'R'
			case attr&tcell.AttrUnderline != 0:
				letter = 'U'
			case len(c.Runes) == 0 || c.Runes[0] == ' ':
				letter = ' '
			case hue:
			case attr&tcell.AttrDim != 0:
				letter = '-'
			case attr&tcell.AttrBold != 0:
				letter = 'B'
			default:
				letter = '.'
			}
			line.WriteByte(letter)
			if len(c.Runes) > 0 && runewidth.RuneWidth(c.Runes[0]) > 1 {
				line.WriteByte(letter) // nothing is drawn there; earlier content does not count
				x++
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// TestColours compares what each character looks like, in each place that shows a tape.
func TestColours(t *testing.T) {
	const session, turns = "acp-go-sdk-rejected.jsonl", "../../inspect/screen/testdata/turns-idle.jsonl"
	for _, tt := range []struct{ name, tape, keys string }{
		{"frames", session, ":8<Enter>z"},
		{"frames-mcp", "mcp-everything.jsonl", "jj"},
		{"pane", session, ":8<Enter><Enter>"},
		{"chat", session, "3«turn 1»z"},
		{"chat-search", session, "3«turn 1»/agent<Enter>n"},
		{"pane-filter", session, "/agent<Enter>«1 of 5 · »j«2 of 5 · »"},
		{"turns", turns, "4«Turn 1»jjj"},
		{"capabilities", session, "5«Agent»"},
		{"statistics", turns, "6«Slowest»"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			term := start(t, screen.Inspector{}, subject(t, tt.tape), 120, 40)
			term.reads(t)
			term.press(t, tt.keys)
			term.goldenOf(t, "colours-"+tt.name, term.colours)
		})
	}
}
