package main

import "github.com/gdamore/tcell/v2"

// background returns the terminal's background colour, which is unknown on Windows.
func background() tcell.Color { return tcell.ColorDefault }
