package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width of the terminal w, or 0 if w is no terminal or its width is
// unknown.
func Columns(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	width, _, _ := term.GetSize(int(w.(*os.File).Fd()))
	return width
}

// A Canvas is where lines are written, and how.
type Canvas struct {
	W     io.Writer
	Width int  // width to cut lines to; 0: do not cut
	Color bool // with the 16 colours of ANSI
}

// NewCanvas returns a canvas on w: as wide as the terminal, in colours if the user wants
// them.
func NewCanvas(w io.Writer) Canvas { return Canvas{w, Columns(w), TakesColor(w)} }

// TakesColor reports whether w is a terminal whose user wants colours
// (no-color.org).
func TakesColor(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
