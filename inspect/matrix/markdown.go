package matrix

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// Markdown returns the matrix as tables for a page such as a README.
func (m *Matrix) Markdown() string {
	var b strings.Builder
	for _, g := range m.Grids() {
		fmt.Fprintf(&b, "| %s |", strings.ToUpper(g.Protocol.String()))
		for _, c := range g.Columns {
			fmt.Fprintf(&b, " %s |", c)
		}
		b.WriteString("\n| --- |" + strings.Repeat(" :-: |", len(g.Columns)) + "\n")
		for _, p := range g.Peers {
			fmt.Fprintf(&b, "| %s |", escapeMarkdown(p.ID()))
			for _, c := range g.Columns {
				fmt.Fprintf(&b, " %s |", p.Cell(c).Mark().Sign())
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	b.WriteString(Legend + "\n")
	return b.String()
}

// escapeMarkdown makes a text of the wire plain text in a cell.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range termtext.Line(s) {
		switch {
		case strings.ContainsRune("\\`*_{}[]()#+!|<>~&@", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
