package matrix

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

//go:embed page.html
var pageSource string

// WriteHTML writes the matrix as one page that needs nothing else: no script, no font, no
// network. Each cell says its evidence in its title.
func (m *Matrix) WriteHTML(w io.Writer) error {
	type cell struct{ Sign, Class, Title string }
	type row struct {
		Name, Version string
		Tapes         int
		Cells         []cell
	}
	type grid struct {
		Protocol string
		Columns  []string
		Rest     string
		Rows     []row
	}
	data := struct {
		Legend string
		Grids  []grid
	}{Legend: Legend}
	for _, g := range m.Grids() {
		shown := grid{Protocol: strings.ToUpper(g.Protocol.String()), Columns: g.Columns, Rest: strings.Join(g.Rest, ", ")}
		for _, p := range g.Peers {
			r := row{Name: termtext.Line(p.Name), Version: cmp.Or(termtext.Line(p.Version), "?"), Tapes: p.Tapes}
			for _, c := range g.Columns {
				one := p.Cell(c)
				mark := one.Mark()
				r.Cells = append(r.Cells, cell{mark.Sign(), mark.class(), one.Title(c)})
			}
			shown.Rows = append(shown.Rows, r)
		}
		data.Grids = append(data.Grids, shown)
	}
	page := template.Must(template.New("matrix").Parse(pageSource))
	return page.Execute(w, data)
}

// class returns the class of the style sheet for a mark.
func (m Mark) class() string { return strings.ReplaceAll(m.String(), " ", "-") }

// Title says the evidence of a cell in a line.
func (c *Cell) Title(column string) string {
	said := []string{column + ": " + c.Mark().String(), fmt.Sprintf("offered on %d of %d connections", c.Offered, c.Connections)}
	for _, n := range []struct {
		count int
		what  string
	}{{c.Worked, "worked"}, {c.Missing, "answered -32601"}, {c.Failed, "failed otherwise"}, {c.Findings, "against " + strings.Join(c.Rules, ", ")}} {
		if n.count > 0 {
			said = append(said, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	if c.First != nil {
		said = append(said, fmt.Sprintf("first in %s:%d", c.First.Tape, c.First.Frame))
	}
	return strings.Join(said, "; ")
}
