package inspect

import (
	"strings"

	"github.com/acptap/acptap/inspect/page"
	"github.com/acptap/acptap/record/termtext"
)

// What the list of keys has in its columns.
const (
	keyColumns  = 12
	whatColumns = 46
)

// help shows the keys of the place.
func (a *app) help() {
	where := a.part()
	if where == inHelp {
		a.back()
		return
	}
	var entries [][]termtext.Span
	for _, k := range a.keys {
		if k.where&where != 0 {
			entries = append(entries, []termtext.Span{termtext.Cyan.Span(termtext.Pad(strings.Join(k.names, " "), keyColumns)), termtext.Plain.Span(termtext.Pad(k.what, whatColumns))})
		}
	}
	a.page = &page.Page{Lines: func(width int) []page.Line {
		lines := []page.Line{{Spans: []termtext.Span{termtext.Bold.Span("Keys " + partNames[where])}, Heading: true}}
		abreast := max(width/(keyColumns+whatColumns), 1)
		rows := (len(entries) + abreast - 1) / abreast
		for i := range rows {
			var row []termtext.Span
			for j := i; j < len(entries); j += rows {
				row = append(row, entries[j]...)
			}
			lines = append(lines, page.Line{Spans: row})
		}
		return lines
	}}
}

// partNames say where keys are.
var partNames = map[part]string{
	inList: "in the list of frames", inPane: "in a frame", inStore: "in the store", inStart: "in the store", inEmpty: "in the store",
	inChat: "in the conversation", inText: "here",
}
