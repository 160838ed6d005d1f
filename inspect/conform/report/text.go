package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/termtext"
)

// Text writes findings for people.
type Text struct {
	W        io.Writer
	Color    bool
	Severity conform.Strength // lowest that is reported
	Names    bool             // Finding names the tape

	full  int  // number of findings per group shown in full; 0: inFull
	begun bool // a section was written
}

// inFull is the default number of findings per group shown in full.
const inFull = 3

// Section writes a section's groups, and a summary of its tapes.
func (t *Text) Section(s *Section) error {
	w := bufio.NewWriter(t.W)
	if t.begun {
		fmt.Fprintln(w)
	}
	t.begun = true
	groups := Groups(s.found())
	for i := range groups {
		t.group(w, &groups[i], s.Frame)
		fmt.Fprintln(w)
	}
	t.tapes(w, s)
	return w.Flush()
}

// Finding writes one finding as a line.
func (t *Text) Finding(s *Section, f *Finding) error {
	name := ""
	if t.Names {
		name = t.tapeName(s.Tapes[f.Tape]) + "  "
	}
	_, err := fmt.Fprintf(t.W, "%s%s %s   %s%s\n", name, t.sign(f.Strength), t.title(f.Rule, f.Strength, f.Fault), prefixed(s.Frame(&f.Finding), "  "), Said(&f.Finding))
	return err
}

// Totals writes the summary of a section's tapes.
func (t *Text) Totals(s *Section) error {
	w := bufio.NewWriter(t.W)
	t.tapes(w, s)
	return w.Flush()
}

func prefixed(text, gap string) string {
	if text == "" {
		return ""
	}
	return text + gap
}

// Group returns a group's text, without colours. frame names a finding's frame.
func (g *Group) Text(frame func(*conform.Finding) string) string {
	var b strings.Builder
	new(Text).group(&b, g, frame)
	return b.String()
}

func (t *Text) group(w io.Writer, g *Group, frame func(*conform.Finding) string) {
	var names []string
	columns := 0
	for _, f := range g.Findings {
		names = append(names, frame(f))
	}
	shown := names[:min(len(names), max(t.full, inFull))]
	for _, name := range shown {
		columns = max(columns, len(name))
	}
	fmt.Fprintf(w, "%s %s%s\n", t.sign(g.Strength), t.title(g.Rule, g.Strength, g.Fault), where(names))
	for i, name := range shown {
		if name == "" {
			fmt.Fprintf(w, "    %s\n", Said(g.Findings[i]))
			continue
		}
		fmt.Fprintf(w, "    %-*s  %s\n", columns, name, Said(g.Findings[i]))
	}
	if more := names[len(shown):]; len(more) > 0 {
		fmt.Fprintf(w, "    and %d more: %s\n", len(more), abridged(more))
	}
	for _, line := range t.advice(g) {
		fmt.Fprintf(w, "    %s\n", t.dim(line))
	}
}

// where says how often a finding occurs, and in which frames if they are few.
func where(names []string) string {
	switch n := len(names); {
	case n == 1 && names[0] == "":
		return ""
	case n == 1:
		return "   frame " + names[0]
	case n <= inFull:
		return fmt.Sprintf("   %d times: frames %s", n, strings.Join(names, ", "))
	default:
		return fmt.Sprintf("   %d times", n)
	}
}

// abridged lists the names of frames; if there are many, only the first ones and the
// last.
func abridged(names []string) string {
	if len(names) <= 2*inFull {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:inFull], ", ") + " … " + names[len(names)-1]
}

// advice returns what the rule requires, its source, and what to do.
func (t *Text) advice(g *Group) []string {
	lines := []string{plain(g.Rule.Text.Asks)}
	if source := sourceLine(g.Findings[0].Clause); source != "" {
		lines = append(lines, source)
	}
	if g.Rule.Text.Do == "" {
		return lines
	}
	do := "To do: " + plain(g.Rule.Text.Do)
	if conform.Lookup(g.Rule.ID) != nil {
		do += ". More: acptap check --explain " + g.Rule.ID
	}
	return append(lines, do)
}

// sourceLine returns a clause's source, its key word and its address.
func sourceLine(c *conform.Clause) string {
	if c == nil || c.Source.URL == "" {
		return ""
	}
	word := ""
	if c.Word != "" {
		word = " (" + c.Word + ")"
	}
	return c.Source.Title + word + ": " + c.Source.URL
}

// Said returns a finding as one clean line: what the side did, what was there, and what
// should have been.
func Said(f *conform.Finding) string {
	var value []string
	if f.Got != "" {
		value = append(value, "got "+f.Got)
	}
	if f.Want != "" {
		value = append(value, "want "+f.Want)
	}
	line := strings.Join(value, ", ")
	if f.Path != "" {
		line = strings.TrimSuffix(f.Path+": "+line, ": ")
	}
	if line != "" {
		line = "; " + line
	}
	line = f.Text + line
	return termtext.Brief(line, maxSaid)
}

// maxSaid limits the characters of that line.
const maxSaid = 600

// title names a rule and who broke it.
func (t *Text) title(r *conform.Rule, s conform.Strength, fault conform.Fault) string {
	title := t.paint(looks[s].style, r.ID) + " " + r.Name
	if fault != conform.Sender {
		title += "   " + fault.String()
	}
	return title
}

// plain returns one sentence of Markdown as plain text.
func plain(markdown string) string { return strings.ReplaceAll(markdown, "`", "") }

// Sign returns the symbol for a strength.
func Sign(s conform.Strength) string { return looks[s].sign }

func (t *Text) sign(s conform.Strength) string { return t.paint(looks[s].style, Sign(s)) }

func (t *Text) dim(line string) string { return t.paint(termtext.Repeats, line) }

func (t *Text) paint(style termtext.Style, text string) string {
	if !t.Color {
		return text
	}
	return style.Paint(text)
}
