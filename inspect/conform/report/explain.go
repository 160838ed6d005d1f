package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/termtext"
)

// explainWidth is the width of Explain's text, in columns.
const explainWidth = 80

// Explain writes everything about a rule: what it requires and where that is specified,
// what it reports and what it does not, and its examples.
func (t *Text) Explain(r *conform.Rule) error {
	w := bufio.NewWriter(t.W)
	fmt.Fprintf(w, "%s %s   %s\n\n", t.paint(looks[r.Strength()].style, r.ID), r.Name, sideOf(r))
	for _, part := range []struct{ title, text string }{
		{"", r.Text.Asks},
		{"Reported: ", r.Text.Finds},
		{"Not reported: ", r.Text.Spares},
		{"To do: ", r.Text.Do},
	} {
		if part.text != "" {
			paragraph(w, part.title+plain(part.text))
		}
	}
	if isOwn(r) {
		return w.Flush()
	}
	prose, examples, err := conform.Examples(r.ID)
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	for i := range r.Clauses {
		c := &r.Clauses[i]
		fmt.Fprintf(w, "%s in %s\n    %s\n", t.paint(looks[c.Strength].style, c.Strength.String()), scope(r, c), sourceLine(c))
	}
	for i := range r.Hurts {
		v := &r.Hurts[i]
		fmt.Fprintf(w, "%s %s\n    %s\n", v.Who, v.What, Seen(v))
	}
	fmt.Fprintln(w)
	paragraph(w, plain(prose))
	for _, x := range examples {
		fmt.Fprintf(w, "\n%s:\n", x.Name)
		for line := range strings.Lines(x.Text) {
			fmt.Fprintf(w, "    %s\n", t.dim(strings.TrimSuffix(line, "\n")))
		}
	}
	return w.Flush()
}

func paragraph(w io.Writer, text string) {
	for _, line := range termtext.Wrap(strings.ReplaceAll(text, "\n", " "), explainWidth) {
		fmt.Fprintln(w, line)
	}
}
