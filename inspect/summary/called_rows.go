package summary

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// CallRows returns the calls of tools as they are told: with paths below Dir, and of many calls
// consecutive ones of a tool together.
func (s *Summary) CallRows() (rows []Called) {
	common := s.commonArguments()
	for _, one := range s.all {
		one.Result = s.below(one.Result)
		given := slices.DeleteFunc(slices.Clone(one.given), func(text string) bool { return slices.Contains(common, text) })
		for i, text := range given {
			if given[i] = s.below(text); text == s.Dir && s.Dir != "" {
				given[i] = "."
			}
		}
		one.Input = termtext.CutWords(strings.Join(given, ", "), saidColumns)
		if len(s.all) > fewRowsCalled && len(rows) > 0 && rows[len(rows)-1].goesWith(&one) {
			rows[len(rows)-1].add(&one)
			continue
		}
		one.count = 1
		rows = append(rows, one)
	}
	return told(rows)
}

// commonArguments returns what nearly all calls are given, such as the owner of a repository.
func (s *Summary) commonArguments() (list []string) {
	times, given := s.givenTimes()
	for _, text := range given {
		if n := times[text]; n >= minCommon && n*5 >= len(s.all)*4 {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

// givenTimes returns how many calls are given each text, and the texts in the order in which a call was
// the second to be given them.
func (s *Summary) givenTimes() (times map[string]int, again []string) {
	times = map[string]int{}
	for _, one := range s.all {
		for _, text := range slices.Compact(slices.Sorted(slices.Values(one.given))) {
			if times[text]++; times[text] == 2 {
				again = append(again, text)
			}
		}
	}
	return times, again
}

// CommonText says what nearly all calls are given, which their rows leave out. It is empty if there
// is nothing.
func (s *Summary) CommonText() string {
	common := s.commonArguments()
	if len(common) == 0 {
		return ""
	}
	return "nearly all with " + strings.Join(common, ", ")
}

// aboutText says what several calls are about: what more than one of them is given, though not most.
func (s *Summary) aboutText() string {
	times, names := s.givenTimes()
	names = slices.DeleteFunc(names, func(text string) bool {
		return len(text) < minAbout || len(text) > listedColumns || text == "true" || text == "false" || 2*times[text] > len(s.all) // they are about nothing else
	})
	if i := slices.IndexFunc(names, func(text string) bool { return strings.ContainsAny(text, "0123456789") }); i > 0 {
		names[0], names[i] = names[i], names[0] // a number tells most
	}
	names = names[:min(len(names), maxAbout)]
	for i, name := range names {
		names[i] = termtext.CutWords(s.below(name), listedColumns)
	}
	return termtext.Labelled("about", strings.Join(names, ", "))
}

// Limits on what calls are about.
const (
	minAbout = 3
	maxAbout = 3
)

// minCommon is the smallest number of calls that have an argument in common.
const minCommon = 5

// fewRowsCalled is the largest number of calls of which each has a row.
const fewRowsCalled = 8

// goesWith reports whether another call that follows can be told with this one.
func (c *Called) goesWith(next *Called) bool {
	return c.Tool == next.Tool && !next.bad && c.How == dialect.Done && next.How == dialect.Done
}

// add tells another call with this one.
func (c *Called) add(next *Called) {
	c.count++
	c.Input = termtext.CutWords(strings.Join(slices.DeleteFunc([]string{c.Input, next.Input}, func(s string) bool { return s == "" }), "; "), saidColumns)
	c.Result = next.Result
}

// Name returns the tool, and how often it was called.
func (c *Called) Name() string {
	if c.count > 1 {
		return fmt.Sprintf("%s ×%d", c.Tool, c.count)
	}
	return c.Tool
}

// Mark returns the sign of a call: a warning if it was answered, but the answer says that something
// failed.
func (c *Called) Mark() termtext.Span {
	if c.How == dialect.Done && c.bad {
		return termtext.Slow.Span("! ")
	}
	return tapetext.OutcomeStyle(c.How).Span(c.How.Sign() + " ")
}

// saysBad reports whether the answer of a tool tells of a failure without being one: a JSON object with
// such a state, not a list of things that may have failed.
func saysBad(content []byte) bool {
	for _, block := range wire.Elements(content) {
		text := strings.TrimSpace(wire.Text(wire.Get(block, "text")))
		if !strings.HasPrefix(text, "{") || len(text) > maxCompared || !wire.IsJSON([]byte(text)) {
			continue
		}
		v := wire.ValueOf(text)
		for _, name := range [...]string{"state", "status", "result", "conclusion", "phase"} {
			if badState().MatchString(v.Get(name).Text()) {
				return true
			}
		}
	}
	return false
}

// badState matches what such a state says.
var badState = lazyregexp.New(`(?i)^(?:failed|failure|error|rejected|cancelled|timed.?out)\b`)

// below returns a text with the paths below Dir relative to it.
func (s *Summary) below(text string) string {
	if s.Dir == "" {
		return text
	}
	return strings.ReplaceAll(text, s.Dir+"/", "")
}

// commonDir returns the directory that has most of the files that calls name, if there are some.
func commonDir(list []Called) (dir string) {
	paths, below := 0, map[string]int{}
	for _, one := range list {
		for _, text := range one.given {
			if !path.IsAbs(text) || len(text) > maxObject {
				continue
			}
			paths++
			for at := text; len(at) > 1; at = path.Dir(at) {
				below[at]++
			}
		}
	}
	for at, n := range below {
		if 4*n >= 3*paths && n >= minBelow && strings.Count(at, "/") > 1 && (len(at) > len(dir) || len(at) == len(dir) && at < dir) {
			dir = at
		}
	}
	return dir
}

// minBelow is the smallest number of files below a common directory.
const minBelow = 3

// calledRows returns the rows of each call that is told: one, or more if it is long and there is
// room.
func (s *Summary) calledRows(f form) (rows []Row) {
	margin := termtext.Plain.Span(labelIndent(f.width))
	for i, one := range s.CallRows() {
		line := labelSpan("called")
		if i > 0 {
			line = []termtext.Span{margin}
		}
		name := one.Name()
		line = append(line, one.Mark(), termtext.Bold.Span(name))
		add := func(spans ...termtext.Span) {
			if line = append(line, spans...); f.width > 0 {
				line = termtext.CutSpans(line, f.width)
			}
			rows = append(rows, Row{line, one.Frame})
			line = []termtext.Span{margin}
		}
		result := tapetext.ResultStyle(one.How)
		room := max(f.width-LabelColumns-termtext.Width(name)-3, 1)
		if f.width > 0 && f.turn > 0 && termtext.Width(one.Input)+arrowColumns+termtext.Width(one.Result) > room {
			n, results := 1, max(f.turn-1, 1)
			if doesWork().MatchString(one.Tool) { // what it was given matters most
				n, results = min(f.turn, 2*fewRows), 1
			} else if one.How == dialect.Done {
				results = 1
			}
			for i, text := range termtext.FirstLines(one.InputIn(n*room-n*n), n, room) {
				add(termtext.Plain.Span(strings.Repeat(" ", max(1-i, 0)) + text))
			}
			sign := termtext.Dim.Span("→ ")
			if one.Input == "" {
				sign = arrow
			}
			columns := max(f.width-LabelColumns-2, 1)
			for i, text := range termtext.FirstLines(one.ResultIn(results*columns-results*results), results, columns) {
				if i > 0 {
					sign = termtext.Plain.Span("  ")
				}
				add(sign, result.Span(text))
			}
			continue
		}
		input, output := share(one.InputIn(max(room*3/5, room-arrowColumns-termtext.Width(one.Result), 1)), one.Result, f.width, room)
		switch {
		case f.width <= 0:
			input, output = one.Input, one.Result
		case output != one.Result:
			output = one.ResultIn(termtext.Width(output))
		}
		if input != "" {
			line = append(line, termtext.Plain.Span(" "+input))
		}
		if output != "" {
			line = append(line, arrow, result.Span(output))
		}
		add()
	}
	if more := s.MoreCalls(); more != "" {
		rows = append(rows, Row{Spans: []termtext.Span{margin, termtext.Dim.Span(more)}})
	}
	return rows
}

// MoreCalls says how many calls of tools CallRows leaves out. It is empty if there are none.
func (s *Summary) MoreCalls() string {
	more := s.toolCalls()
	rows := s.CallRows()
	for _, one := range rows {
		more -= one.count
	}
	if more > 0 && len(rows) > 0 {
		return "and " + termtext.Counted(more, "more call")
	}
	return ""
}

// toolCalls returns how often tools of MCP were called without turns.
func (s *Summary) toolCalls() (n int) {
	for _, c := range s.Calls {
		for _, tool := range c.Tools {
			n += tool.Count
		}
	}
	return n
}
