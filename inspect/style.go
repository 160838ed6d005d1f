package inspect

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace/ansi"
)

// arrow returns the sign of a frame's direction.
func arrow(f *dialect.Frame) (string, ansi.Style) {
	switch {
	case f.Kind == wire.Mark:
		return "─", ansi.Dim
	case f.Dir == wire.ClientToAgent:
		return "→", ansi.Cyan
	case f.Dir == wire.AgentToClient:
		return "←", ansi.Green
	}
	return "⇠", ansi.Yellow
}

// look returns the style of a frame's method and summary.
func look(f *dialect.Frame) ansi.Style {
	switch {
	case isBad(f):
		return ansi.Red
	case f.Kind == wire.Mark, f.Kind == wire.Stderr:
		return ansi.Yellow
	case f.Origin == wire.Withheld:
		return ansi.Dim
	}
	return ansi.Plain
}

// styled reads a line that was written for a terminal, with one parameter of SGR
// at a time, as Lines and trace.WriteText write them.
func styled(line string) []span {
	var spans []span
	look := ansi.Plain
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			spans = append(spans, span{look, text})
		}
		if !found {
			break
		}
		param, after, _ := strings.Cut(rest, "m")
		if look = ansi.Style(param); param == "0" {
			look = ansi.Plain
		}
		line = after
	}
	return spans
}
