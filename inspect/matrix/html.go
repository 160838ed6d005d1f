package matrix

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

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
	}{Legend, m.Grids()})
}

// Title describes the evidence of a cell in a line.
func (c Cell) Title(column string) string {
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
