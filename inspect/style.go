package inspect

import (
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
