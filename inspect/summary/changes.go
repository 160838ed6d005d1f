package summary

import (
	"cmp"
	"fmt"
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

	Added   int `json:"added,omitempty"` // lines, in all changes
	Removed int `json:"removed,omitempty"`

	Times int   `json:"times,omitempty"` // how often it was changed, if more than once
	Frame Frame `json:"frame"`           // of the first change

	path string
}

// Limits on the changes that are kept, on their texts, and on what is compared of a file.
const (
	maxChanges    = 64
	maxChanged    = 3 // lines of each: the last ones
	changedRows   = 6
	changeColumns = 100
	fileColumns   = 28
	maxCompared   = 256 << 10
	lookedAt      = 8 // lines of a change
)

// changed notes that a tool call has changed a file.
func (t *Tally) changed(path string, how edit, at Frame) {
	list, line := t.sum.Changes, how.line
	i := slices.IndexFunc(list, func(c Change) bool { return c.path == path })
	switch {
	case path == "":
	case i >= 0:
		one := &list[i]
		one.Added, one.Removed = one.Added+how.added, one.Removed+how.removed
		if one.Times = max(one.Times, 1) + 1; line != "" && !slices.Contains(one.Lines, line) {
			one.Lines = append(slices.Clone(one.Lines[max(0, len(one.Lines)-maxChanged+1):]), line)
		}
	case len(list) < maxChanges:
		one := Change{path: path, Frame: at, Added: how.added, Removed: how.removed}
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

// An edit is what one tool call changed in a file.
type edit struct {
	line           string // that tells much of it, after a sign: one that was added or, if there is none, one that was removed
	added, removed int    // lines
}

// editOf returns what a diff changes.
func editOf(diff []byte) (e edit) {
	before, after := wire.Text(wire.Get(diff, "oldText")), wire.Text(wire.Get(diff, "newText"))
	if len(before)+len(after) > maxCompared {
		return e
	}
	var added, removed string
	added, e.added = onlyIn(after, before)
	removed, e.removed = onlyIn(before, after)
	if e.line = termtext.Labelled("+", added); added == "" {
		e.line = termtext.Labelled("-", removed)
	}
	return e
}

// onlyIn returns the longest of the first lines of a text that another text has not, if possible none
// that tells little, and how many there are.
func onlyIn(text, other string) (found string, count int) {
	has := map[string]int{}
	for line := range strings.Lines(other) {
		has[strings.TrimSpace(line)]++
	}
	dull, seen := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if has[line]--; has[line] >= 0 {
			continue
		}
		count++
		switch {
		case seen == lookedAt, !cause.HasText(line):
			continue
		case dullLine().MatchString(line):
			dull = cmp.Or(dull, line)
			continue
		}
		if len(line) > len(found) {
			found = line
		}
		seen++
	}
	return termtext.CutWords(termtext.Piece(cmp.Or(found, dull)), changeColumns), count
}

// dullLine matches lines of programs that tell little of a change: comments, imports, and lines without a word.
var dullLine = lazyregexp.New(`^(?://|#|/\*|\*|--|"""|import\b|from \S+ import|use [\w:]+|using [\w.]+;|package\b|include\b|require\b|(?:const|let|var) .* = require|[^\pL]*$)`)

// Edits returns the changes that are told, and how many others there are.
func (s *Summary) Edits() (told []Change, others int) {
	if !slices.ContainsFunc(s.Changes, func(c Change) bool { return c.Lines != nil }) {
		return nil, 0
	}
	told = slices.Clone(s.Changes[:min(len(s.Changes), changedRows)])
	for i := range told {
		few := max(changedRows/len(told), 1)
		told[i].Lines = told[i].Lines[max(0, len(told[i].Lines)-few):]
	}
	return told, len(s.Changes) - len(told)
}

// changeRows tell the changes of files, one a row, where there is room.
func (s *Summary) changeRows(f form) (rows []Row) {
	told, others := s.Edits()
	if f.entry > 0 {
		return nil
	}
	wide, counts := 0, 0
	for _, one := range told {
		wide, counts = max(wide, min(termtext.Width(one.File), fileColumns)), max(counts, termtext.Width(one.Count()))
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
			name, count := termtext.Cut(one.File, max(wide, 1)), one.Count()
			if i > 0 {
				name, count = "", ""
			}
			add(one.Frame, termtext.Plain.Span(termtext.Pad(name, wide)+"  "), termtext.Dim.Span(termtext.Pad(count, counts)+"  "+text))
		}
	}
	if others > 0 {
		add(Frame{}, termtext.Dim.Span("and "+termtext.Counted(others, "more file")))
	}
	return rows
}

// Count says how many lines were added and removed. It is empty if that is not known.
func (c *Change) Count() string {
	var list []string
	if c.Added > 0 {
		list = append(list, fmt.Sprintf("+%d", c.Added))
	}
	if c.Removed > 0 {
		list = append(list, fmt.Sprintf("−%d", c.Removed))
	}
	return strings.Join(list, " ")
}

// Text returns lines of the changes, at least one, which may be empty.
func (c *Change) Text() []string {
	switch {
	case len(c.Lines) > 0:
		return c.Lines
	case c.Times > 1:
		return []string{termtext.Counted(c.Times, "change")}
	}
	return []string{""}
}
