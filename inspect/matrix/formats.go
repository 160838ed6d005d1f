package matrix

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"strings"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/termtext"
)

// A Row is a peer as JSON.
type Row struct {
	Protocol string          `json:"protocol"`
	Side     string          `json:"side"` // agent or client
	Name     string          `json:"name"`
	Version  string          `json:"version,omitempty"`
	Tapes    int             `json:"tapes"`
	Frames   int             `json:"frames"`
	Cells    map[string]Fact `json:"capabilities"` // those for which there is evidence
}

// A Fact is a cell as JSON.
type Fact struct {
	Mark Mark `json:"mark"`
	Cell
}

// Rows returns the matrix for JSON, a row for each peer.
func (m *Matrix) Rows() []Row {
	rows := []Row{}
	for _, grid := range m.Grids() {
		for _, p := range grid.Peers {
			r := Row{
				Protocol: grid.Protocol.String(), Side: sideName(m.Side), Name: p.Name, Version: p.Version,
				Tapes: p.Tapes, Frames: p.Frames, Cells: make(map[string]Fact),
			}
			for _, c := range grid.Columns {
				if cell := p.Cell(c); cell.Mark() != NotOffered {
					r.Cells[c] = Fact{cell.Mark(), cell}
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// Markdown returns the matrix as tables for a page such as a README.
func (m *Matrix) Markdown() string {
	var b strings.Builder
	for _, grid := range m.Grids() {
		fmt.Fprintf(&b, "| %s |", strings.ToUpper(grid.Protocol.String()))
		for _, c := range grid.Columns {
			fmt.Fprintf(&b, " %s |", c)
		}
		b.WriteString("\n| --- |" + strings.Repeat(" :-: |", len(grid.Columns)) + "\n")
		for _, p := range grid.Peers {
			fmt.Fprintf(&b, "| %s |", escapeMarkdown(p.ID()))
			for _, c := range grid.Columns {
				fmt.Fprintf(&b, " %s |", p.Cell(c).Mark().Sign())
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	b.WriteString(m.Legend() + "\n")
	return b.String()
}

// escapeMarkdown makes text from the wire plain text in a cell.
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

//go:embed page.css
var pageStyle string

// WriteHTML writes the matrix as one self-contained page without scripts, fonts or network
// access. The title of each cell is its evidence.
func (m *Matrix) WriteHTML(w io.Writer) error {
	return h.Write(w, h.Group{h.Raw("<!doctype html>\n"), h.El("html", h.Attr("lang", "en"), h.NL,
		h.Raw(`<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>acptap matrix</title>
`), h.El("style", h.NL, h.Raw(pageStyle)), h.NL,
		h.El("h1", h.Text("What they can do")), h.NL,
		h.Each(m.Grids(), Grid.html),
		h.P(h.Text(m.Legend())), h.NL), h.NL})
}

// html returns the table of a protocol, with a row for each peer.
func (of Grid) html() h.Node {
	return h.Group{
		h.H2(h.Text(strings.ToUpper(of.Protocol.String()))), h.NL,
		h.Table(h.NL,
			h.THead(h.Tr(h.Th(), h.Each(of.Columns, func(c string) h.Node { return h.Th(h.Text(c)) }))), h.NL,
			h.TBody(h.NL, h.Each(of.Peers, func(p *Peer) h.Node { return h.Group{p.row(of.Columns), h.NL} })), h.NL), h.NL,
		h.Given(len(of.Rest), h.P(h.Small(h.Text("No evidence for: "+strings.Join(of.Rest, ", ")))), h.NL),
	}
}

// row returns the row of a peer.
func (p *Peer) row(columns []string) h.Node {
	name := h.Th(h.Title(fmt.Sprintf("%d tapes", p.Tapes)), h.Text(termtext.Line(p.Name)+" "), h.Small(h.Text(cmp.Or(termtext.Line(p.Version), "?"))))
	return h.Tr(name, h.Each(columns, func(c string) h.Node {
		cell := p.Cell(c)
		return h.Td(h.Class(strings.ReplaceAll(cell.Mark().String(), " ", "-")), h.Title(cell.Title(c)), h.Text(cell.Mark().Sign()))
	}))
}

// Title describes the evidence of a cell in a line.
func (c Cell) Title(column string) string {
	if c.Outcome != "" {
		return fmt.Sprintf("%s: %s; %s", column, c.Outcome, c.First.Tape)
	}
	said := []string{column + ": " + c.Mark().String(), fmt.Sprintf("offered on %d of %d connections", c.Offered, c.Connections)}
	if c.habit {
		said = []string{column, fmt.Sprintf("on %d of %d connections with occasion for it", c.Offered, c.Connections)}
	}
	for _, n := range []struct {
		count int
		what  string
	}{{c.Worked, "worked"}, {c.Missing, "answered -32601"}, {c.Failed, "failed otherwise"}, {c.Hangs, "never answered"}, {c.Hurts, "known to hurt a peer"}, {c.Findings, "against " + strings.Join(c.Rules, ", ")}} {
		if n.count > 0 {
			said = append(said, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	if c.First != nil {
		said = append(said, fmt.Sprintf("first in %s:%d", c.First.Tape, c.First.Frame))
	}
	return strings.Join(said, "; ")
}
