package inspect

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// A canvas is a part of the screen. What is drawn beside it is not drawn.
type canvas struct {
	screen     tcell.Screen
	looks      looks
	x, y, w, h int
}

// A span is text in one style. It is clean.
type span struct {
	style style
	text  string
}

// part returns a part of the canvas.
func (c canvas) part(x, y, w, h int) canvas {
	x, y = min(max(x, 0), c.w), min(max(y, 0), c.h)
	c.w, c.h = max(min(w, c.w-x), 0), max(min(h, c.h-y), 0)
	c.x, c.y = c.x+x, c.y+y
	return c
}

// text draws text from a place on and returns the column behind it.
func (c canvas) text(x, y int, s style, text string) int {
	if y < 0 || y >= c.h {
		return x
	}
	look := c.looks[s]
	state := -1
	for len(text) > 0 && x < c.w {
		var cluster string
		var w int
		cluster, text, w, state = uniseg.FirstGraphemeClusterInString(text, state)
		if x+w > c.w {
			break
		}
		if w > 0 && x >= 0 {
			runes := []rune(cluster)
			c.screen.SetContent(c.x+x, c.y+y, runes[0], runes[1:], look)
		}
		x += w
	}
	return x
}

// spans draws a line. A selected one fills the width.
func (c canvas) spans(y int, line []span, selected bool) {
	x := 0
	for _, s := range line {
		if selected {
			s.style = reverse
		}
		x = c.text(x, y, s.style, s.text)
	}
	if selected {
		c.fill(x, y, reverse)
	}
}

// fill draws blanks from a place to the end of the line.
func (c canvas) fill(x, y int, s style) {
	if y < 0 || y >= c.h {
		return
	}
	for ; x < c.w; x++ {
		c.screen.SetContent(c.x+x, c.y+y, ' ', nil, c.looks[s])
	}
}

// across draws a line from one side to the other, a title in it.
func (c canvas) across(y int, s style, title string) {
	if y < 0 || y >= c.h {
		return
	}
	for x := range c.w {
		c.screen.SetContent(c.x+x, c.y+y, '─', nil, c.looks[dim])
	}
	if title != "" {
		c.text(1, y, s, " "+Cut(title, max(c.w-4, 1))+" ")
	}
}
