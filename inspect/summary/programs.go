package summary

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// The programs count the commands that tool calls ran, by program and subcommand, the first one first.
type programs []Count

// add counts the command of a tool call that has ended. known says that the agent has told the command,
// not only a title, which may be a text.
func (p *programs) add(c *trace.ToolCall, by *attempt, known bool) {
	if c.Kind != "execute" || c.Rejected {
		return
	}
	name := by.command.Name()
	if title := c.Title; name == "" || !known && title != "" && title[0] >= 'A' && title[0] <= 'Z' {
		name = plainTitle(toolTitle(title, ""))
	}
	name = termtext.Cut(termtext.Piece(name), titleColumns)
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
