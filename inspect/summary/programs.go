package summary

import (
	"cmp"
	"maps"
	"slices"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// The programs count the commands that tool calls ran, by program and subcommand. The zero value is ready to
// use.
type programs struct {
	count map[string]int
	first map[string]int // in the order of their first runs
}

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
	if name == "" || p.count[name] == 0 && len(p.count) == maxNames {
		return
	}
	if p.count == nil {
		p.count, p.first = map[string]int{}, map[string]int{}
	}
	if p.count[name]++; p.count[name] == 1 {
		p.first[name] = len(p.first)
	}
}

// list returns the commands that ran most often, of as many the first.
func (p *programs) list() (list []Count) {
	for _, name := range slices.SortedFunc(maps.Keys(p.count), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.count[b], p.count[a]), cmp.Compare(p.first[a], p.first[b]))
	}) {
		list = append(list, Count{What: name, Count: p.count[name]})
	}
	return list[:min(len(list), maxTold)]
}

// ranLine says which commands ran, the most frequent first.
func (s *Summary) ranLine() []termtext.Span {
	if len(s.Ran) == 0 {
		return nil
	}
	return line{termtext.Plain.Span(s.RanText())}
}

// RanText says which commands ran, the most frequent first. It is empty if none did.
func (s *Summary) RanText() string { return list(s.Ran) }
