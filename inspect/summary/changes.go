package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/summary/cause"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Change says how a file was changed by tool calls.
type Change struct {
	File  string   `json:"file"`            // its name, or as much of its path as tells it from others
	Lines []string `json:"lines,omitempty"` // one of each change that was added, after +, or only removed, after -
	Times int      `json:"times,omitempty"` // how often it was changed, if more than once
	Frame Frame    `json:"frame"`           // of the first change

	path string
}

// Limits on the changes that are kept, on their texts, and on what is compared of a file.
const (
	maxChanges    = 64
	maxChanged    = 3 // lines of each: the last ones
	changedRows   = 8
	changeColumns = 100
	fileColumns   = 28
	maxCompared   = 256 << 10
	lookedAt      = 8 // lines of a change
)

// changed notes that a tool call has changed a file.
func (t *Tally) changed(path, line string, at Frame) {
	list := t.sum.Changes
	i := slices.IndexFunc(list, func(c Change) bool { return c.path == path })
	switch {
	case path == "":
	case i >= 0:
		one := &list[i]
		if one.Times = max(one.Times, 1) + 1; line != "" && !slices.Contains(one.Lines, line) {
			one.Lines = append(slices.Clone(one.Lines[max(0, len(one.Lines)-maxChanged+1):]), line)
		}
	case len(list) < maxChanges:
		one := Change{path: path, Frame: at}
		if line != "" {
			one.Lines = []string{line}
		}
		t.sum.Changes = append(list, one)
	}
}

// changesTold returns the changes with the names of the files.
func (t *Tally) changesTold() []Change {
	list := slices.Clone(t.sum.Changes)
	for i := range list {
		list[i].File = termtext.Piece(endOf(list[i].path, func(end string) bool {
			return slices.ContainsFunc(list, func(o Change) bool { return o.path != list[i].path && strings.HasSuffix(o.path, end) })
		}))
	}
	return list
}

// editOf returns a line of a diff that tells much of it, after a sign: one that was added or, if there
// is none, one that was removed.
func editOf(diff []byte) string {
	before, after := wire.Text(wire.Get(diff, "oldText")), wire.Text(wire.Get(diff, "newText"))
	if len(before)+len(after) > maxCompared {
		return ""
	}
	if line := onlyIn(after, before); line != "" {
		return "+ " + line
	}
	if line := onlyIn(before, after); line != "" {
		return "- " + line
	}
	return ""
}

// onlyIn returns the longest of the first lines of a text that another text has not, if possible none
// that tells little.
func onlyIn(text, other string) (found string) {
	has := map[string]bool{}
	for line := range strings.Lines(other) {
		has[strings.TrimSpace(line)] = true
	}
	dull, seen := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case has[line], !cause.HasText(line):
			continue
		case dullLine().MatchString(line):
			dull = cmp.Or(dull, line)
			continue
		}
		if len(line) > len(found) {
			found = line
		}
		if seen++; seen == lookedAt {
			break
		}
	}
	return termtext.CutWords(termtext.Piece(cmp.Or(found, dull)), changeColumns)
}

// dullLine matches lines of programs that tell little of a change: comments, imports, and lines without a word.
var dullLine = lazyregexp.New(`^(?://|#|/\*|\*|--|"""|import\b|from \S+ import|use [\w:]+|using [\w.]+;|package\b|include\b|require\b|(?:const|let|var) .* = require|[^\pL]*$)`)

// Edits returns the changes that are told, and how many others there are.
func (s *Summary) Edits() (told []Change, others int) {
	if !slices.ContainsFunc(s.Changes, func(c Change) bool { return c.Lines != nil }) {
		return nil, 0
	}
	rows := 0
	for _, one := range s.Changes {
		if rows += max(len(one.Lines), 1); rows > changedRows && told != nil {
			break
		}
		told = append(told, one)
	}
	return told, len(s.Changes) - len(told)
}

// changeRows tell the changes of files, one a row, where there is room.
func (s *Summary) changeRows(f form) (rows []Row) {
	told, others := s.Edits()
	if f.entry > 0 {
		return nil
	}
	wide := 0
	for _, one := range told {
		wide = max(wide, min(termtext.Width(one.File), fileColumns))
	}
	add := func(at Frame, spans ...termtext.Span) {
		head := termtext.Plain.Line(labelIndent(f.width))
		if len(rows) == 0 {
			head = labelSpan("changed")
		}
		line := append(head, spans...)
		if f.width > 0 {
			line = termtext.CutSpans(line, f.width)
		}
		rows = append(rows, Row{line, at})
	}
	for _, one := range told {
		for i, text := range one.Text() {
			name := termtext.Cut(one.File, max(wide, 1))
			if i > 0 {
				name = ""
			}
			add(one.Frame, termtext.Plain.Span(termtext.Pad(name, wide)+"  "), termtext.Dim.Span(text))
		}
	}
	if others > 0 {
		add(Frame{}, termtext.Dim.Span("and "+termtext.Counted(others, "more file")))
	}
	return rows
}

// Text says how the file was changed, in a line or several.
func (c *Change) Text() []string {
	list := slices.Clone(c.Lines)
	if more := c.Times - len(list); more > 0 {
		if len(list) == 0 {
			return []string{termtext.Counted(c.Times, "change")}
		}
		list[0] += " (and " + termtext.Counted(more, "more change") + ")"
	}
	if len(list) == 0 {
		return []string{""}
	}
	return list
}
