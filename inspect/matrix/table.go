package matrix

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// Legend explains the signs.
const Legend = "✓ works   · offered, not used   ! broken   ? only failed, cause unclear   ✗ used, not offered"

// A Grid is the part of a matrix for one protocol, with a row for each peer.
type Grid struct {
	Protocol dialect.Protocol
	Columns  []string // names of capabilities
	Rest     []string // names of those without evidence
	Peers    []*Peer
}

// Grids returns a grid for each protocol that the peers speak.
func (m *Matrix) Grids() []Grid {
	var all []Grid
	for _, p := range []dialect.Protocol{dialect.ACP, dialect.MCP} {
		g := Grid{Protocol: p}
		for _, peer := range m.Peers() {
			if peer.Protocol == p {
				g.Peers = append(g.Peers, peer)
			}
		}
		if g.Peers != nil {
			g.Columns, g.Rest = m.Columns(p)
			all = append(all, g)
		}
	}
	return all
}

// styles of the signs.
var styles = map[Mark]termtext.Style{
	Works:     termtext.Plain,
	Unused:    termtext.Dim,
	Broken:    termtext.Failure,
	Unclear:   termtext.Permission,
	Unoffered: termtext.Failure,
}

// Lines returns a grid as lines for a terminal of at most width columns; 0 means no
// limit. The names of the capabilities form a staircase above their columns.
func (g *Grid) Lines(width int) [][]termtext.Span {
	names := make([]string, len(g.Peers))
	widest := 0
	for i, p := range g.Peers {
		names[i] = termtext.Cut(termtext.Line(p.ID()), 32)
		widest = max(widest, termtext.Width(names[i]))
	}
	columns := g.Columns
	const gap = 3
	longest := 0
	for _, c := range columns {
		longest = max(longest, len(c))
	}
	var folded []string
	for width > 0 && len(columns) > 1 && widest+1+gap*len(columns)+longest > width {
		folded = append(folded, columns[len(columns)-1])
		columns = columns[:len(columns)-1]
	}
	var lines [][]termtext.Span
	for i := range columns {
		stem := strings.Repeat(strings.Repeat(" ", gap-1)+"│", i)
		lines = append(lines, []termtext.Span{
			{Text: strings.Repeat(" ", widest) + stem, Style: termtext.Dim},
			{Text: strings.Repeat(" ", gap-1) + "┌ " + columns[i], Style: termtext.Bold},
		})
	}
	for i, p := range g.Peers {
		line := []termtext.Span{{Text: termtext.Pad(names[i], widest)}}
		for _, c := range columns {
			mark := p.Cell(c).Mark()
			line = append(line, termtext.Span{Text: strings.Repeat(" ", gap-1)}, termtext.Span{Text: mark.Sign(), Style: styles[mark]})
		}
		lines = append(lines, line)
	}
	if len(folded) > 0 {
		lines = append(lines, []termtext.Span{{Text: "too narrow for " + strings.Join(folded, ", "), Style: termtext.Dim}})
	}
	return lines
}
