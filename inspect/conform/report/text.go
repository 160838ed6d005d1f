package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/termtext"
)

// Text writes findings for people: for each tape its names and what was found on it, and at
// the end a total. What it has already written for an earlier tape it does not repeat: it
// only names that tape.
type Text struct {
	W        io.Writer
	Color    bool
	Width    int              // to wrap lines to; 0: do not wrap
	Severity conform.Strength // lowest that is reported
	Names    bool             // Finding names the tape
	Untried  bool             // also list the rules that had no occasion

	full     int // number of statements per group shown in full; 0: inFull
	sections int
	gap      bool              // a blank line separates what follows
	advised  map[string]bool   // rules, by id, whose advice was given
	told     map[string]string // texts already written for groups, and for which tape
	sum      sum
}

// inFull is the number of things shown in full.
const inFull = 3

// Section writes the names of a section's tapes, its groups, and their number.
func (t *Text) Section(s *Section) error {
	w := bufio.NewWriter(t.W)
	groups := Groups(s.found())
	if t.sections > 0 && (t.gap || len(groups) > 0) {
		fmt.Fprintln(w)
	}
	t.sections++
	t.gap = len(groups) > 0
	t.heading(w, s)
	for i := range groups {
		fmt.Fprintln(w)
		t.group(w, &groups[i], s)
	}
	if t.gap {
		fmt.Fprintln(w)
	}
	t.totals(w, s)
	t.sum.add(s)
	return w.Flush()
}

// Close writes the total of several sections, and how many rules applied.
func (t *Text) Close() error {
	w := bufio.NewWriter(t.W)
	if t.sections > 1 {
		fmt.Fprintln(w)
		t.lines(w, "", termtext.Counted(t.sum.tapes, "tape")+": "+t.sum.String(t.Severity), "  ")
	}
	t.rules(w, t.sum.verdicts)
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

// Totals writes the names of a section's tapes, how much was found, and how many rules
// applied.
func (t *Text) Totals(s *Section) error {
	w := bufio.NewWriter(t.W)
	t.heading(w, s)
	t.totals(w, s)
	t.rules(w, mergedVerdicts(nil, s.Tapes))
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
	new(Text).whole(&b, g, frame)
	return b.String()
}

// whole writes all of a group.
func (t *Text) whole(w io.Writer, g *Group, frame func(*conform.Finding) string) {
	t.statements(w, g, g.statements(frame))
	t.advise(w, g)
}

// group writes a group. If it has written the same for an earlier tape, it only says so.
func (t *Text) group(w io.Writer, g *Group, s *Section) {
	all := g.statements(s.Frame)
	key := g.Rule.ID + "\x00" + g.Fault.String()
	var frames []string
	for _, one := range all {
		key += "\x00" + one.said
		frames = append(frames, one.frames...)
	}
	if tape, ok := t.told[key]; ok {
		t.lines(w, t.head(g), "   "+prefixed(t.frames(frames), ", ")+"as on "+tape, "    ")
		return
	}
	if t.told == nil {
		t.told, t.advised = map[string]string{}, map[string]bool{}
	}
	t.told[key] = termtext.Line(s.Tapes[0].Name)
	t.statements(w, g, all)
	if !t.advised[g.Rule.ID] {
		t.advised[g.Rule.ID] = true
		t.advise(w, g)
	}
}

// head names a group's rule, and who broke it.
func (t *Text) head(g *Group) string {
	return t.sign(g.Strength) + " " + t.title(g.Rule, g.Strength, g.Fault)
}

// A statement is a text that findings share, and their frames.
type statement struct {
	said   string
	frames []string // frames of findings about no frame are omitted
}

// statements returns the distinct texts of a group's findings.
func (g *Group) statements(frame func(*conform.Finding) string) []statement {
	var all []statement
	at := map[string]int{}
	for _, f := range g.Findings {
		said := Said(f)
		i, ok := at[said]
		if !ok {
			i = len(all)
			at[said], all = i, append(all, statement{said: said})
		}
		if name := frame(f); name != "" {
			all[i].frames = append(all[i].frames, name)
		}
	}
	return all
}

// statements writes a group's head and what its findings say, the first ones in full.
func (t *Text) statements(w io.Writer, g *Group, all []statement) {
	if len(all) == 1 {
		t.lines(w, t.head(g), strings.TrimRight("   "+t.frames(all[0].frames), " "), "    ")
		t.lines(w, "", "    "+all[0].said, "      ")
		return
	}
	t.lines(w, t.head(g), "   "+termtext.Times(len(g.Findings)), "    ")
	shown := min(len(all), max(t.full, inFull))
	for _, one := range all[:shown] {
		t.lines(w, "", "    "+prefixed(t.frames(one.frames), "  ")+one.said, "      ")
	}
	var rest []string
	for _, one := range all[shown:] {
		rest = append(rest, one.frames...)
	}
	if n := len(all) - shown; n > 0 {
		t.lines(w, "", fmt.Sprintf("    and %d more: %s", n, t.frames(rest)), "      ")
	}
}

// frames names frames; if there are many, only the first ones and the last.
func (t *Text) frames(names []string) string {
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return "frame " + names[0]
	case n <= max(t.full, 2*inFull):
		return "frames " + strings.Join(names, ", ")
	default:
		return "frames " + strings.Join(names[:inFull], ", ") + " … " + names[n-1]
	}
}

// advise writes what the rule requires, its source, and what to do.
func (t *Text) advise(w io.Writer, g *Group) {
	lines := []string{plain(g.Rule.Text.Asks)}
	if v := g.Findings[0].Victim; v != nil && g.Strength == conform.Hurts {
		lines = append(lines, Seen(v))
	}
	if c := g.Findings[0].Clause; c != nil && c.Source.URL != "" {
		lines = append(lines, citation(c), t.address(c))
	}
	if g.Rule.Text.Do != "" {
		do := "To do: " + plain(g.Rule.Text.Do)
		if conform.Lookup(g.Rule.ID) != nil {
			do += ". More: acptap check --explain " + g.Rule.ID
		}
		lines = append(lines, do)
	}
	for _, line := range lines {
		for _, part := range t.wrapped("    "+line, "      ") {
			fmt.Fprintf(w, "    %s\n", t.dim(part[4:]))
		}
	}
}

// lines writes a line, wrapped between words if it is too long. head is its beginning, with
// colours; the other lines begin with the indent.
func (t *Text) lines(w io.Writer, head, text, indent string) {
	columns := termtext.SpansWidth(termtext.Spans(head))
	for i, line := range t.wrapped(strings.Repeat("x", columns)+text, indent) {
		if i == 0 {
			line = head + line[columns:]
		}
		fmt.Fprintln(w, line)
	}
}

// wrapped returns a line, wrapped between words if it is too long. All but the first begin
// with the indent.
func (t *Text) wrapped(line, indent string) []string {
	if t.Width <= 0 || termtext.Width(line) <= t.Width {
		return []string{line}
	}
	first := termtext.Wrap(line, t.Width)[0]
	rest := strings.TrimLeft(strings.TrimPrefix(line, first), " ")
	lines := []string{first}
	for _, line := range termtext.Wrap(rest, max(t.Width-len(indent), roomy)) {
		lines = append(lines, indent+line)
	}
	return lines
}

// roomy is the minimum width of wrapped text.
const roomy = 20

// address returns a clause's address in one line: without its scheme if it is too long.
func (t *Text) address(c *conform.Clause) string {
	if t.Width > 0 && len(c.Source.URL)+4 > t.Width {
		return strings.TrimPrefix(c.Source.URL, "https://")
	}
	return c.Source.URL
}

// citation returns a clause's source and its key word.
func citation(c *conform.Clause) string {
	if c.Word == "" {
		return c.Source.Title
	}
	return c.Source.Title + " (" + c.Word + ")"
}

// sourceLine returns a clause's source, its key word and its address.
func sourceLine(c *conform.Clause) string {
	if c == nil || c.Source.URL == "" {
		return ""
	}
	return citation(c) + ": " + c.Source.URL
}

// Said returns a finding as one clean line: whom it hurts if no text forbids it, what the
// side did, what was there, and what should have been.
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
	if f.Victim != nil && f.Strength == conform.Hurts {
		line = hurting(f) + ": " + line
	}
	return termtext.Brief(line, maxSaid)
}

// hurting says whom an allowed message hurts, such as "allowed, but agent-shell drops the
// text".
func hurting(f *conform.Finding) string {
	return "allowed, but " + Victim(f) + " " + f.Victim.What
}

// Victim names the peer that a finding hurts: "your client" or "your agent" if it is on the
// tape.
func Victim(f *conform.Finding) string {
	switch {
	case f.Victim == nil:
		return "a peer"
	case f.Yours && f.Fault == conform.Client:
		return "your agent"
	case f.Yours:
		return "your client"
	}
	return f.Victim.Who
}

// Seen says where a victim was seen, such as "agent-shell, seen 2026-06: https://…".
func Seen(v *conform.Victim) string {
	who := v.Who
	if v.Versions != "" {
		who += " " + v.Versions
	}
	seen := ", seen " + v.Seen
	if v.Mended != "" {
		seen += ", mended in " + v.Mended
	}
	return who + seen + ": " + v.URL
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
