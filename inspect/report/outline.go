package report

import (
	"fmt"
	"strings"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

// outlines compares the outlines of both runs. Equal lines are folded; in differing
// lines, the differing words are marked.
type outlines struct {
	Lead      string // how much differs
	Linked    []int  // numbers of the first differences
	Stretches []stretch
	Left      string // what was omitted
	Size      int    // approximate bytes of the page
}

// links returns links to the first differences.
func (o *outlines) links() h.Node {
	return h.Given(len(o.Linked), h.El("nav", h.Class("jumps"), h.Aria("label", "Differences"), h.Text("Differences"), h.Each(o.Linked, func(n int) h.Node {
		return h.Group{h.Text(" "), h.A(h.Link(fmt.Sprint("d-", n)), h.Text(fmt.Sprint(n)))}
	})), h.NL)
}

// A stretch is a run of lines: either differing lines with those around them, or folded
// equal lines.
type stretch struct {
	Lines  []outlineLine
	Folded int // number of folded lines; 0 if they are shown
	Left   int // number of folded lines that are not on the page
}

func (s stretch) html() h.Node {
	table := h.Group{h.Div(h.Class("stretch"), h.Table(h.Class("outline"),
		h.Raw(`<colgroup><col class="n"><col><col class="sign"><col class="n"><col></colgroup><thead class="skip"><tr><th scope="col">frame of A</th><th scope="col">A</th><th scope="col">sign</th><th scope="col">frame of B</th><th scope="col">B</th></tr></thead>`),
		h.TBody(h.NL, h.Each(s.Lines, outlineLine.html)))), h.NL}
	if s.Folded == 0 {
		return table
	}
	return h.Group{h.Details(h.Summary(h.Text(termtext.Counted(s.Folded, "equal line"))), table, h.Given(s.Left, h.P(h.Class("soft"), h.Text(fmt.Sprintf("and %d more", s.Left))))), h.NL}
}

// An outlineLine is a line of one outline or of both.
type outlineLine struct {
	Number int    // number of the difference that begins here; 0 if none does
	Class  string // equal, changed or only
	Sign   string
	Says   string // what the sign means
	Of     [2]*outlineCell
}

func (l outlineLine) html() h.Node {
	return h.Group{h.Tr(h.Class(l.Class), h.Given(l.Number, h.ID(fmt.Sprint("d-", l.Number))),
		l.Of[0].html(), h.Td(h.Class("sign"), h.Given(l.Says, h.Title(l.Says)), h.Text(l.Sign)), l.Of[1].html()), h.NL}
}

// An outlineCell is a line of one outline.
type outlineCell struct {
	Frame  string // its frame's number on the page; empty if it has none
	Linked bool   // the number is shown
	First  bool   // the first line of that frame on the page
	Depth  int
	Parts  []compare.Part
}

func (c *outlineCell) html() h.Node {
	if c == nil {
		return h.Raw(`<td></td><td class="none"></td>`)
	}
	return h.Group{
		h.Td(h.Class("n"), h.Given(c.Linked, h.A(h.Link("frame-"+c.Frame), h.Given(c.First, h.ID("e-"+c.Frame)), h.Text(c.Frame)))),
		h.Td(h.Class(fmt.Sprint("t d", c.Depth)), h.Given(c.Frame, h.Data("frame", c.Frame)), h.Each(c.Parts, func(p compare.Part) h.Node {
			if p.Differs {
				return h.B(h.Text(p.Text))
			}
			return h.Text(p.Text)
		})),
	}
}

const (
	maxLines   = 8000    // lines shown
	maxStretch = 200     // lines; browsers lay out only the visible stretches
	maxPart    = 2 << 10 // bytes of an equal or differing part of a line
	maxDepth   = 8
	margin     = 3  // equal lines around a difference
	mostLinked = 40 // differences that are linked
)

// rowKinds are the looks of the kinds of rows.
var rowKinds = [...]struct{ class, sign, says string }{
	compare.Equal:   {"equal", "", ""},
	compare.Changed: {"changed", "≠", "differs"},
	compare.OnlyOld: {"only", "<", "only in A"},
	compare.OnlyNew: {"only", ">", "only in B"},
}

// outlineRuns lays out the outlines of two runs.
type outlineRuns struct {
	A, B []compare.Step
	// Frame returns the page number of a frame of A (side 0) or B (side 1).
	Frame   func(side int, at compare.Position) string
	Cut     bool   // the end of an outline was omitted
	Room    int    // approximate bytes of the page; 0 for no limit
	Command string // the command that compares everything

	compare.Alignment
	out    outlines
	lines  int             // shown
	number int             // of the difference that the next line begins; 0 if it begins none
	told   map[string]bool // frames that already have an element
	before [2]string       // frames of the preceding line
}

// outlines lays out both outlines.
func (l *outlineRuns) outlines() outlines {
	l.Alignment, l.told = compare.Align(l.A, l.B), map[string]bool{}
	rows := l.Rows()
	differs := 0
	for _, s := range compare.Stretches(rows, margin) {
		if s.Equal {
			l.equal(rows, s)
			continue
		}
		differs++
		if l.number = differs; !l.full() && differs <= mostLinked {
			l.out.Linked = append(l.out.Linked, differs)
		}
		l.add(rows[s.From:s.To])
	}
	if l.out.Lead = "What was asked, done and said differs in " + termtext.Counted(differs, "place"); differs == 0 {
		l.out.Lead = "No difference in what was asked, done and said"
	}
	switch {
	case l.Cut:
		l.out.Left = "The outlines are too long to be compared whole, so their ends are left out: " + l.Command + " compares all."
	case l.full():
		l.out.Left = fmt.Sprintf("Of the lines, the first %s are shown: %s has all that differ.", termtext.Grouped(int64(l.lines)), l.Command)
	}
	return l.out
}

// equal adds equal lines, showing those next to a difference and folding the others.
func (l *outlineRuns) equal(rows []compare.Row, s compare.Stretch) {
	l.add(rows[s.From:s.Fold])
	if s.Fold == s.Unfold || l.full() {
		return
	}
	middle := rows[s.Fold:s.Unfold]
	l.begin(stretch{Folded: len(middle)})
	fold := len(l.out.Stretches) - 1
	l.add(middle[:min(len(middle), maxStretch)])
	l.out.Stretches[fold].Left = len(middle) - len(l.out.Stretches[fold].Lines)
	if s.Unfold < s.To && !l.full() {
		l.begin(stretch{})
		l.add(rows[s.Unfold:s.To])
	}
}

// begin begins a stretch.
func (l *outlineRuns) begin(s stretch) {
	l.out.Stretches = append(l.out.Stretches, s)
	l.before = [2]string{}
}

// full reports whether there is no room for more lines.
func (l *outlineRuns) full() bool {
	return l.lines == maxLines || l.Room > 0 && l.out.Size >= l.Room
}

// lineSize is the approximate number of bytes of markup for a line of both runs.
const lineSize = 320

// add adds as many lines as fit to the last stretch and to further ones.
func (l *outlineRuns) add(rows []compare.Row) {
	for _, r := range rows {
		if l.full() {
			return
		}
		n := len(l.out.Stretches)
		if n == 0 || len(l.out.Stretches[n-1].Lines) == maxStretch {
			l.begin(stretch{})
		}
		s := &l.out.Stretches[len(l.out.Stretches)-1]
		s.Lines = append(s.Lines, l.line(r))
		l.lines++
	}
}

func (l *outlineRuns) line(r compare.Row) outlineLine {
	kind := rowKinds[r.Kind]
	one := outlineLine{Number: l.number, Class: kind.class, Sign: kind.sign, Says: kind.says}
	l.number = 0
	var texts [2]string
	for side, at := range [2]int32{r.Old, r.New} {
		if at < 0 {
			continue
		}
		step := &[2][]compare.Step{l.Old, l.New}[side][at]
		one.Of[side] = l.cell(side, step, r.Kind == compare.Changed)
		texts[side] = visible(step.Text)
		one.Of[side].Parts = []compare.Part{{Text: texts[side]}}
	}
	if r.Kind == compare.Changed {
		one.Of[0].Parts, one.Of[1].Parts = compare.Parts(texts[0], texts[1])
	}
	l.out.Size += lineSize
	for _, c := range one.Of {
		if c == nil {
			continue
		}
		for i := range c.Parts {
			c.Parts[i].Text = c.Parts[i].Shown(i == 0 && len(c.Parts) > 1, maxPart)
			l.out.Size += len(c.Parts[i].Text)
		}
	}
	return one
}

// cell returns one side of a line, without its text. The frame's number is shown if
// linked is true, or if the preceding line belongs to another frame.
func (l *outlineRuns) cell(side int, step *compare.Step, linked bool) *outlineCell {
	c := &outlineCell{Depth: min((len(step.Text)-len(strings.TrimLeft(step.Text, " ")))/2, maxDepth)}
	if step.Seq == 0 {
		return c
	}
	c.Frame = l.Frame(side, step.Position)
	c.Linked = linked || l.before[side] != c.Frame
	l.before[side] = c.Frame
	c.First = c.Linked && !l.told[c.Frame]
	l.told[c.Frame] = l.told[c.Frame] || c.First
	return c
}

// visible returns a line without its indentation. It drops nothing else, so lines that
// differ only in control characters still look different.
func visible(text string) string {
	text = strings.ToValidUTF8(strings.TrimLeft(text, " "), "\ufffd")
	return strings.Map(termtext.Visible, strings.ReplaceAll(text, "\t", "    "))
}
