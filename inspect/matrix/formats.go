package matrix

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

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
	for _, g := range m.Grids() {
		for _, p := range g.Peers {
			r := Row{
				Protocol: g.Protocol.String(), Side: sideName(m.Side), Name: p.Name, Version: p.Version,
				Tapes: p.Tapes, Frames: p.Frames, Cells: make(map[string]Fact),
			}
			for _, c := range g.Columns {
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

//go:embed page.html
var pageSource string

// WriteHTML writes the matrix as one self-contained page without scripts, fonts or network
// access. The title of each cell is its evidence.
func (m *Matrix) WriteHTML(w io.Writer) error {
	page := template.Must(template.New("matrix").Funcs(template.FuncMap{
		"upper": strings.ToUpper,
		"join":  func(list []string) string { return strings.Join(list, ", ") },
		"line":  termtext.Line,
		"class": func(m Mark) string { return strings.ReplaceAll(m.String(), " ", "-") },
	}).Parse(pageSource))
	return page.Execute(w, struct {
		Legend string
		Grids  []Grid
	}{m.Legend(), m.Grids()})
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
