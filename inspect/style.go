package inspect

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A style is the parameters of the ECMA-48 sequence SGR.
type style string

const (
	plain   style = ""
	bold    style = "1"
	dim     style = "2"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	magenta style = "35"
	blue    style = "34"
	cyan    style = "36"
	reverse style = "7"
)

// arrow returns the sign of a frame's direction.
func arrow(f *dialect.Frame) (string, style) {
	switch {
	case f.Kind == wire.Mark:
		return "─", dim
	case f.Dir == wire.ClientToAgent:
		return "→", cyan
	case f.Dir == wire.AgentToClient:
		return "←", green
	}
	return "⇠", yellow
}

// look returns the style of a frame's method and summary.
func look(f *dialect.Frame) style {
	switch {
	case f.Kind == wire.Mark:
		if m := wire.ReadMark(f.Frame); m.Gap != 0 || m.Damage != 0 {
			return red
		}
		return yellow
	case f.Failed, f.Kind == wire.Junk:
		return red
	case f.Kind == wire.Stderr:
		return yellow
	case f.Origin == wire.Withheld:
		return dim
	}
	return plain
}

// styled reads a line that was written for a terminal, with one parameter of SGR
// at a time, as Lines and trace.WriteText write them.
func styled(line string) []span {
	var spans []span
	look := plain
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			spans = append(spans, span{look, text})
		}
		if !found {
			break
		}
		param, after, _ := strings.Cut(rest, "m")
		if look = style(param); param == "0" {
			look = plain
		}
		line = after
	}
	return spans
}
