package summary

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// The programs count the commands that tool calls ran, by program and subcommand, the first one first.
type programs []Count

// add counts the command of a tool call that has ended.
func (p *programs) add(e *trace.Event, t *terminals) {
	c := e.ToolCall.ToolCall
	if c.Kind != "execute" || c.Rejected {
		return
	}
	a := t.attempt(e)
	name := termtext.Cut(termtext.Piece(a.command.Name()), titleColumns)
	if title := []rune(c.Title); name == "" || t.command(e) == "" && len(title) > 0 && title[0] >= 'A' && title[0] <= 'Z' { // no command, but a text
		name = termtext.Cut(plainTitle(toolTitle(c.Title, "")), titleColumns)
	}
	i := slices.IndexFunc(*p, func(c Count) bool { return c.What == name })
	switch {
	case i >= 0:
		(*p)[i].Count++
	case name != "" && len(*p) < maxNames:
		*p = append(*p, Count{What: name, Count: 1})
	}
}

// list returns the commands that ran most often.
func (p programs) list() []Count {
	list := slices.Clone([]Count(p))
	slices.SortStableFunc(list, func(a, b Count) int { return cmp.Compare(b.Count, a.Count) })
	return list[:min(len(list), maxTold)]
}

// RanText says which commands ran, the most frequent first. It is empty if none did.
func (s *Summary) RanText() string { return list(s.Ran) }
