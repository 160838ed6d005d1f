//go:build unix

package main

import (
	"os"
	"strconv"
	"time"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// backgroundWait limits the wait for the terminal's answer. A later answer would be read as
// key presses.
const backgroundWait = time.Second

// background asks the terminal for its background colour (OSC 11 of xterm). It returns
// ColorDefault if the terminal does not tell. It also asks for the terminal's attributes
// (DA1), which every terminal answers, so it need not wait for one that ignores the first
// question.
func background() tcell.Color {
	in, out := int(os.Stdin.Fd()), os.Stdout
	if !term.IsTerminal(in) || !term.IsTerminal(int(out.Fd())) || os.Getenv("TERM") == "linux" {
		return tcell.ColorDefault
	}
	before, err := term.MakeRaw(in)
	if err != nil {
		return tcell.ColorDefault
	}
	defer term.Restore(in, before)
	if _, err := out.WriteString("\x1b]11;?\x1b\\\x1b[c"); err != nil {
		return tcell.ColorDefault
	}
	var answer []byte
	for end := time.Now().Add(backgroundWait); !attributesAnswer().Match(answer); {
		ready := []unix.PollFd{{Fd: int32(in), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int(max(time.Until(end), 0).Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			break
		}
		buf := make([]byte, 256)
		k, err := os.Stdin.Read(buf)
		if err != nil {
			break
		}
		answer = append(answer, buf[:k]...)
	}
	return backgroundIn(answer)
}

var (
	attributesAnswer = lazyregexp.New(`\x1b\[\?[0-9;]*c`)
	backgroundAnswer = lazyregexp.New(`\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})`)
)

// backgroundIn returns the colour in a terminal's answer.
func backgroundIn(answer []byte) tcell.Color {
	parts := backgroundAnswer().FindSubmatch(answer)
	if parts == nil {
		return tcell.ColorDefault
	}
	var rgb [3]int32
	for i, digits := range parts[1:] {
		n, _ := strconv.ParseUint(string(digits), 16, 16) // the pattern has digits only
		rgb[i] = int32(n * 255 / (1<<(4*len(digits)) - 1))
	}
	return tcell.NewRGBColor(rgb[0], rgb[1], rgb[2])
}
