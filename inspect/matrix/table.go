package matrix

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// Legend explains the signs.
const Legend = "✓ works   · offered, not used   ! broken   ~ hurts a peer   ? only failed, cause unclear   ✗ used, not offered   – not seen"

// Legend explains the signs of the matrix.
func (m *Matrix) Legend() string {
	if m.Cases {
		return CasesLegend
	}
	return Legend
}

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
			if peer.Protocol == p && (!m.Cases || len(peer.cases) > 0) {
				g.Peers = append(g.Peers, peer)
			}
		}
		switch {
		case g.Peers == nil:
			continue
		case m.Cases:
			g.Columns = caseColumns(g.Peers)
		default:
			g.Columns, g.Rest = m.Columns(p)
		}
		all = append(all, g)
	}
	return all
}

// styles of the signs.
var styles = map[Mark]termtext.Style{
	Works:     termtext.Good,
	Unused:    termtext.Dim,
	Broken:    termtext.Failure,
	Unclear:   termtext.Permission,
	Unoffered: termtext.Failure,
	Hurting:   termtext.Slow,
	NotSeen:   termtext.Dim,
}

// Lines returns a grid as lines for a terminal of at most width columns; 0 means no
// limit. The names of the capabilities form a staircase above their columns. Columns for
// which there is no room follow below, with the names of the peers again.
func (g *Grid) Lines(width int) [][]termtext.Span {
	names := make([]string, len(g.Peers))
	widest := 0
	for i, p := range g.Peers {
		names[i] = shortID(p)
		widest = max(widest, termtext.Width(names[i]))
	}
	var lines [][]termtext.Span
	for rest := g.Columns; lines == nil || len(rest) > 0; {
		n := len(rest)
		for width > 0 && n > 1 && staircase(rest[:n], widest) > width {
			n--
		}
		if lines != nil {
			lines = append(lines, nil)
		}
		lines = append(lines, g.lines(names, widest, rest[:n])...)
		rest = rest[n:]
	}
	return lines
}

// gap is the width of a column of signs.
const gap = 3

// staircase returns the width of a staircase of columns.
func staircase(columns []string, names int) (width int) {
	for i, c := range columns {
		width = max(width, names+gap*(i+1)+len(" ")+termtext.Width(c)+1)
	}
	return width
}

// lines returns the lines for some of the columns.
func (g *Grid) lines(names []string, widest int, columns []string) (lines [][]termtext.Span) {
	for i, c := range columns {
		stem := strings.Repeat(strings.Repeat(" ", gap-1)+"│", i)
		lines = append(lines, []termtext.Span{
			{Text: strings.Repeat(" ", widest) + stem, Style: termtext.Dim},
			{Text: strings.Repeat(" ", gap-1) + "┌ " + c, Style: termtext.Bold},
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
	return lines
}

// maxName limits the columns of a peer's name and version.
const maxName = 32

// shortID returns a peer's ID in about maxName columns: without the scope of a package, then
// with its name cut. The version is whole.
func shortID(p *Peer) string {
	id := termtext.Line(p.ID())
	if termtext.Width(id) <= maxName {
		return id
	}
	name, version := termtext.Line(p.Name), id[len(termtext.Line(p.Name)):]
	if scope, rest, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(scope, "@") {
		name = "…/" + rest
	}
	return termtext.Cut(name, max(maxName-termtext.Width(version), 8)) + termtext.Cut(version, maxName)
}
