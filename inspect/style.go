package inspect

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// arrow returns the sign of a frame's direction.
func arrow(f *dialect.Frame) (string, termtext.Style) {
	switch {
	case f.Kind == wire.Mark:
		return "─", termtext.Dim
	case f.Dir == wire.ClientToAgent:
		return "→", termtext.Cyan
	case f.Dir == wire.AgentToClient:
		return "←", termtext.Green
	}
	return "⇠", termtext.Yellow
}

// look returns the style of a frame's method and summary.
func look(f *dialect.Frame) termtext.Style {
	switch {
	case isBad(f):
		return termtext.Red
	case f.Kind == wire.Mark, f.Kind == wire.Stderr:
		return termtext.Yellow
	case f.Origin == wire.Withheld:
		return termtext.Dim
	}
	return termtext.Plain
}

// styled reads a line that was written for a terminal, with one parameter of SGR
// at a time, as Lines and trace.WriteText write them.
func styled(line string) []span {
	var spans []span
	look := termtext.Plain
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			spans = append(spans, span{look, text})
		}
		if !found {
			break
		}
		param, after, _ := strings.Cut(rest, "m")
		if look = termtext.Style(param); param == "0" {
			look = termtext.Plain
		}
		line = after
	}
	return spans
}
