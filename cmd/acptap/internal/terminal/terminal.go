package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns returns the width of the terminal that w is; 0 if it is none, or does
// not tell.
func columns(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	width, _, _ := term.GetSize(int(w.(*os.File).Fd()))
	return width
}

// takesColor reports whether w is a terminal whose user wants colours
// (no-color.org).
func takesColor(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
