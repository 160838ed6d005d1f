package screen

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// Widths of the columns on the key page: keys, and what they do.
const (
	keyColumns  = 7
	whatColumns = 31
	helpColumns = keyColumns + whatColumns + 1
)

// help shows the keys for the current place.
func (a *app) help() {
	where := a.part()
	if where == inHelp {
		a.back()
		return
	}
	var blocks [][][]termtext.Span
	for _, g := range keyTable() {
		if rows := g.helpRows(where); rows != nil {
			blocks = append(blocks, rows)
		}
	}
	if rows := signRows(where); rows != nil {
		blocks = append(blocks, rows)
	}
	a.page = &page.Page{Lines: func(width int) []page.Line {
		lines := []page.Line{{Spans: []termtext.Span{termtext.Bold.Span("Keys " + partNames[where])}, Heading: page.Stays}}
		return append(lines, abreast(blocks, max(width/helpColumns, 1))...)
	}}
}

// helpRows returns help on the keys that work in a part of the screen, preceded by their
// subject; nil if there are none.
func (g *keyGroup) helpRows(where part) [][]termtext.Span {
	rows := [][]termtext.Span{{termtext.Bold.Span(g.subject)}}
	for _, e := range explained(g.keys, where) {
		names := termtext.Pad(strings.Join(e.names, " "), keyColumns-1) + " "
		for _, what := range termtext.Wrap(e.what, whatColumns) {
			rows = append(rows, []termtext.Span{termtext.Bold.Span(names), termtext.Plain.Span(what)})
			names = strings.Repeat(" ", keyColumns)
		}
	}
	if len(rows) == 1 {
		return nil
	}
	return rows
}

// An explanation is a group of keys with a common explanation.
type explanation struct {
	names []string
	where part
	what  string
}

// explained returns the explanations of the keys that work in any of the parts. Keys that
// share an explanation are listed by their first names only.
func explained(keys []key, where part) []explanation {
	var list []explanation
	for i, k := range keys {
		if k.where&where == 0 {
			continue
		}
		together := k.what == asBefore || i+1 < len(keys) && keys[i+1].what == asBefore
		names := k.names
		if together {
			names = names[:1]
		}
		if k.what == asBefore && len(list) > 0 {
			e := &list[len(list)-1]
			e.names = append(e.names, names...)
			continue
		}
		if n := len(list) - 1; n >= 0 && list[n].what == k.what && slices.Equal(list[n].names, names) {
			list[n].where |= k.where
			continue
		}
		list = append(list, explanation{slices.Clone(names), k.where, k.what})
	}
	for i := range list {
		e := &list[i]
		if n := len(e.names); n > 4 {
			e.names = []string{e.names[0], "…", e.names[n-1]}
		}
	}
	return list
}

// abreast lays out blocks in columns of about equal height, each block in one column,
// with a blank row between blocks.
func abreast(blocks [][][]termtext.Span, columns int) []page.Line {
	height, whole := 0, 0
	for _, b := range blocks {
		height, whole = max(height, len(b)), whole+len(b)+1
	}
	for height = max(height, whole/columns); ; height++ {
		if placed := inColumns(blocks, height); len(placed) <= columns {
			return acrossColumns(placed)
		}
	}
}

// inColumns stacks blocks into columns of the given height, which is at least that of the
// tallest block.
func inColumns(blocks [][][]termtext.Span, height int) [][][]termtext.Span {
	var columns [][][]termtext.Span
	for _, b := range blocks {
		n := len(columns) - 1
		if n < 0 || len(columns[n])+1+len(b) > height {
			columns = append(columns, slices.Clone(b))
			continue
		}
		columns[n] = append(append(columns[n], nil), b...)
	}
	return columns
}

// acrossColumns returns the lines of columns placed side by side.
func acrossColumns(columns [][][]termtext.Span) []page.Line {
	var lines []page.Line
	for y := 0; ; y++ {
		var row []termtext.Span
		used, more := 0, false
		for i, c := range columns {
			if y >= len(c) {
				continue
			}
			more = true
			row = append(row, termtext.Plain.Span(strings.Repeat(" ", i*helpColumns-used)))
			row = append(row, c[y]...)
			used = i*helpColumns + termtext.SpansWidth(c[y])
		}
		if !more {
			return lines
		}
		lines = append(lines, page.Line{Spans: row})
	}
}

// partNames name the parts of the screen.
var partNames = map[part]string{
	inList: "in the list of frames", inPane: "in a frame", inStore: "in the store", inStart: "in the store", inEmpty: "in the store",
	inChat: "in the conversation", inFound: "in what was found", inDiff: "in two tapes side by side", inTurns: "in the turns", inFindings: "in the findings", inText: "here", inDetails: "in the details",
	inRules: "in the rules",
}
