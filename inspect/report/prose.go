package report

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/termtext"
)

// A passage is a part of a message: a paragraph, a heading, a list, a table, a block of code or
// a rule.
type passage struct {
	Kind  string      // p, text (of a list item, without space around it), h, ul, ol, table, pre, hr
	Runs  []run       // of p, text and h
	Text  string      // of pre
	Start int         // number of the first item of ol
	Items [][]passage // of ul and ol
	Table *proseTable
}

// passages draws the passages of a message.
func passages(list []passage) h.Node { return h.Each(list, passage.html) }

func (p passage) html() h.Node {
	items := h.Each(p.Items, func(list []passage) h.Node { return h.Li(h.Auto(), passages(list)) })
	switch p.Kind {
	case "pre":
		return h.Pre(h.Class("output"), h.Auto(), h.Text(p.Text))
	case "ul":
		return h.Ul(items)
	case "ol":
		return h.El("ol", h.Given(p.Start != 1, h.Attr("start", fmt.Sprint(p.Start))), items)
	case "table":
		return h.Table(h.Class("numbers tight said"), h.THead(h.Tr(h.Each(p.Table.Head, proseCell.heading))),
			h.TBody(h.Each(p.Table.Rows, func(row []proseCell) h.Node { return h.Tr(h.Each(row, proseCell.html)) })))
	case "hr":
		return h.Void("hr")
	case "h":
		return h.P(h.Class("heading"), h.Auto(), runList(p.Runs))
	case "text":
		return runList(p.Runs)
	}
	return h.P(h.Auto(), runList(p.Runs))
}

// A run is text in one style, which may have runs in other styles in it.
type run struct {
	Kind   string // code, b, i, or empty for plain text
	Text   string // of code and plain text
	Inside []run  // of b and i
}

// runList draws the runs of a line.
func runList(list []run) h.Node { return h.Each(list, run.html) }

func (r run) html() h.Node {
	switch r.Kind {
	case "code":
		return h.El("code", h.Text(r.Text))
	case "b":
		return h.B(runList(r.Inside))
	case "i":
		return h.El("i", runList(r.Inside))
	}
	return h.Text(r.Text)
}

// A proseTable is a table in a message.
type proseTable struct {
	Head []proseCell
	Rows [][]proseCell
}

type proseCell struct {
	Class string // n for numbers, which are aligned right
	Runs  []run
}

func (c proseCell) html() h.Node { return h.Td(h.Given(c.Class, h.Class(c.Class)), runList(c.Runs)) }

// heading returns a cell of the head.
func (c proseCell) heading() h.Node {
	return h.Th(h.Scope("col"), h.Given(c.Class, h.Class(c.Class)), runList(c.Runs))
}

// markdown returns the parser of messages. What it leaves out is shown as it was written: links
// and images, which can leak a secret, HTML, quotations, and character references, which can
// hide control characters.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewEmphasisParser(), 500),
		),
		parser.WithParagraphTransformers(util.Prioritized(smallTables{extension.NewTableParagraphTransformer()}, 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)), // unescapes | in code
	)
})

// smallTables leaves paragraphs alone that would be tables of more than mostCells: rows that lack
// cells get them, so that a small text could become a huge table.
type smallTables struct{ parser.ParagraphTransformer }

const mostCells = 20_000

func (t smallTables) Transform(n *ast.Paragraph, r text.Reader, pc parser.Context) {
	columns := 0
	for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
		columns = max(columns, bytes.Count(line.Value(r.Source()), []byte("|"))+1)
	}
	if columns*n.Lines().Len() <= mostCells {
		t.ParagraphTransformer.Transform(n, r, pc)
	}
}

// prose returns the passages of a text from the wire.
func prose(written string) []passage {
	written = termtext.Text(written)
	if strings.TrimLeft(written, " ") == strings.TrimPrefix(written, " ") { // models begin words, and thus messages, with a blank
		written = strings.TrimPrefix(written, " ")
	}
	p := proseReader{[]byte(written)}
	return p.passages(markdown().Parse(text.NewReader(p.source)), 0)
}

// A proseReader turns the tree of a message into passages.
type proseReader struct{ source []byte }

// deepest limits how many lists, and how many styles, are shown in one another.
const deepest = 4

// passages returns what is in a block.
func (p *proseReader) passages(parent ast.Node, depth int) (list []passage) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.List:
			if depth == deepest {
				for item := n.FirstChild(); item != nil; item = item.NextSibling() {
					list = append(list, p.passages(item, depth)...)
				}
				continue
			}
			one := passage{Kind: "ul"}
			if n.IsOrdered() {
				one.Kind, one.Start = "ol", n.Start
			}
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				one.Items = append(one.Items, p.passages(item, depth+1))
			}
			list = append(list, one)
		case *ast.TextBlock:
			list = append(list, passage{Kind: "text", Runs: p.runs(n, 0)})
		case *ast.Heading:
			list = append(list, passage{Kind: "h", Runs: p.runs(n, 0)})
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			list = append(list, passage{Kind: "pre", Text: strings.TrimSuffix(string(n.Lines().Value(p.source)), "\n")})
		case *ast.ThematicBreak:
			list = append(list, passage{Kind: "hr"})
		case *tables.Table:
			list = append(list, passage{Kind: "table", Table: p.table(n)})
		default:
			list = append(list, passage{Kind: "p", Runs: p.runs(n, 0)})
		}
	}
	return list
}

// table returns a table of as many columns as its head has.
func (p *proseReader) table(n *tables.Table) *proseTable {
	var t proseTable
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []proseCell
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			one := proseCell{Runs: p.runs(cell, 0)}
			if n.Alignments[len(cells)] == tables.AlignRight {
				one.Class = "n"
			}
			cells = append(cells, one)
		}
		if row.Kind() == tables.KindTableHeader {
			t.Head = cells
		} else {
			t.Rows = append(t.Rows, cells)
		}
	}
	return &t
}

// runs returns the text in a node. Lines end as they did on the wire.
func (p *proseReader) runs(parent ast.Node, depth int) (list []run) {
	plain := func(text string) {
		if last := len(list) - 1; last >= 0 && list[last].Kind == "" {
			list[last].Text += text
		} else {
			list = append(list, run{Text: text})
		}
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			plain(string(util.UnescapePunctuations(n.Segment.Value(p.source))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				plain("\n")
			}
		case *ast.CodeSpan:
			list = append(list, run{Kind: "code", Text: p.code(n)})
		case *ast.Emphasis:
			inside := p.runs(n, min(depth+1, deepest))
			switch {
			case depth == deepest:
				list = append(list, inside...)
			case n.Level == 2:
				list = append(list, run{Kind: "b", Inside: inside})
			default:
				list = append(list, run{Kind: "i", Inside: inside})
			}
		}
	}
	return list
}

// code returns the text of a code span.
func (p *proseReader) code(n *ast.CodeSpan) string {
	var b strings.Builder
	for part := n.FirstChild(); part != nil; part = part.NextSibling() {
		b.Write(part.(*ast.Text).Segment.Value(p.source))
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// titleRuns returns the text of a title, in which agents put commands and paths between
// backticks. A sign of Markdown in a title is more likely one of a pattern.
func titleRuns(title string) (list []run) {
	parts := strings.Split(title, "`")
	if len(parts)%2 == 0 {
		return []run{{Text: title}}
	}
	for i, part := range parts {
		if part != "" {
			list = append(list, run{Kind: [...]string{"", "code"}[i%2], Text: part})
		}
	}
	return list
}
