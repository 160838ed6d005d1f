// Package terminal writes for people who read on a terminal: tables cut to its
// width, a progress line, and text of others made unable to control it. Each of
// them leaves output alone that goes elsewhere, except that a table stays aligned.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Is reports whether w is a terminal.
func Is(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width of the terminal w; 0 if w is no terminal or its width
// is unknown.
func Columns(w io.Writer) int {
	if !Is(w) {
		return 0
	}
	width, _, _ := term.GetSize(int(w.(*os.File).Fd()))
	return width
}

// A Canvas is where lines are written, and how.
type Canvas struct {
	W     io.Writer
	Width int  // columns that lines are cut to; 0: they are not cut
	Color bool // with the 16 colours of ANSI
}

// On returns w as a canvas: as wide as the terminal, in colours if its user wants
// them.
func On(w io.Writer) Canvas { return Canvas{w, Columns(w), TakesColor(w)} }

// TakesColor reports whether w is a terminal whose user wants colours
// (no-color.org).
func TakesColor(w io.Writer) bool {
	return Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
