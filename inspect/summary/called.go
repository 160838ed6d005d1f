package summary

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/summary/cause"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A Called is the call of a tool of an MCP server: what it was given, how that ended, and what
// came back.
type Called struct {
	Tool   string      `json:"tool"`
	Input  string      `json:"input,omitempty"`
	How    dialect.How `json:"-"`
	Ending string      `json:"outcome"` // in words
	Result string      `json:"result,omitempty"`
	Frame  Frame       `json:"frame"`

	given []string // its arguments
	bad   bool     // it was answered, but the answer says that something failed
	count int      // calls that are told together
}

// InputIn returns what the tool was given in so many columns.
func (c *Called) InputIn(columns int) string { return cutInput(c.Input, columns) }

// ResultIn returns what came back in so many columns: of an error, the end of it.
func (c *Called) ResultIn(columns int) string {
	if c.How.IsBad() {
		return cause.Cut(cause.WithoutRequest(c.Result), columns)
	}
	return termtext.CutWords(c.Result, columns)
}

// A Spent says how long the calls of a tool, or of another method, took together.
type Spent struct {
	What string  `json:"what"`
	Took seconds `json:"seconds"`
}

// Limits on the calls that are told.
const (
	endCalls  = 8 // the first ones, and as many of the last
	badCalls  = 4 // of those between that ended badly
	mostCalls = 2*endCalls + badCalls
	mostKept  = 64 // some are told together
)

// A calls keeps the calls of tools by a client that are told, and measures all of its calls.
// The zero value is ready to use.
type calls struct {
	count int
	first []*Called // at most mostKept
	last  []*Called // at most endCalls
	bad   []*Called // at most badCalls

	open    map[uint64]openCall // by request; at most maxNames
	running int
	since   time.Duration // since when calls have been running
	busy    time.Duration // how long any ran before
	ended   time.Duration // when the last one ended
	pause   Pause         // the longest time without one, between two
	spent   map[string]time.Duration
	failed  map[string]int // calls of tools
}

// An openCall is a call without an answer yet.
type openCall struct {
	name string
	at   time.Duration
	tool *Called // nil: it is another method
}

// begin processes a call of the client that begins with a frame.
func (c *calls) begin(f *dialect.Frame, e *trace.Event) {
	if e.Untimed || dialect.EndsAtClose(e.Method) || dialect.Does(e.Method, dialect.Prompts) || len(c.open) == maxNames {
		return
	}
	if c.open == nil {
		c.open = map[uint64]openCall{}
	}
	one := openCall{name: callName(e), at: e.Began}
	if e.Call.Tool != "" {
		one.name = termtext.Cut(termtext.Piece(e.Call.Tool), titleColumns)
		given := inputOf(wire.Get(f.Raw, "params", "arguments"))
		one.tool = &Called{Tool: one.name, Input: termtext.CutWords(strings.Join(given, ", "), saidColumns), given: given, How: dialect.Running, Frame: Frame{Run: e.Run, Seq: e.First}}
		c.keep(one.tool)
	}
	c.open[e.First] = one
	if c.running++; c.running == 1 {
		if took := seconds(e.Began - c.ended); c.busy > 0 && took > c.pause.Took {
			c.pause = Pause{Took: took, Where: "before " + one.name}
		}
		c.since = e.Began
	}
}

// withInput returns what the tool was given that an event is about, after a blank; nothing if it is not
// kept.
func (c *calls) withInput(e *trace.Event) string {
	if e == nil || e.Kind != trace.CallEvent || e.Call.Tool == "" {
		return ""
	}
	for _, list := range [...][]*Called{c.first, c.last} {
		for _, one := range list {
			if one.Frame.Run == e.Run && one.Frame.Seq == e.First && one.Input != "" {
				return " " + termtext.CutWords(one.Input, titleColumns)
			}
		}
	}
	return ""
}

// keep keeps a call if it is told.
func (c *calls) keep(one *Called) {
	c.count++
	if len(c.first) < mostKept {
		c.first = append(c.first, one)
	}
	if len(c.last) == endCalls {
		c.last = slices.Delete(c.last, 0, 1)
	}
	c.last = append(c.last, one)
}

// end processes the end of a call.
func (c *calls) end(request uint64, at time.Duration, how dialect.How, result string) {
	one, known := c.open[request]
	if !known {
		return
	}
	delete(c.open, request)
	if c.running--; c.running == 0 {
		c.busy, c.ended = c.busy+at-c.since, at
	}
	if c.spent == nil {
		c.spent = map[string]time.Duration{}
	}
	if _, counted := c.spent[one.name]; counted || len(c.spent) < maxNames {
		c.spent[one.name] += at - one.at
	}
	if one.tool == nil {
		return
	}
	one.tool.How, one.tool.Result = how, result
	if how.IsBad() && (c.failed[one.name] > 0 || len(c.failed) < maxNames) {
		if c.failed == nil {
			c.failed = map[string]int{}
		}
		c.failed[one.name]++
	}
	if how.IsBad() && len(c.bad) < badCalls && !slices.Contains(c.first[:min(len(c.first), endCalls)], one.tool) {
		c.bad = append(c.bad, one.tool)
	}
}

// answered processes the answer to a call.
func (c *calls) answered(f *dialect.Frame, e *trace.Event) {
	how, result := dialect.Done, ""
	content := wire.Get(f.Raw, "result", "content")
	switch {
	case e.End == trace.Failed:
		how, result = dialect.Errored, cmp.Or(cause.OfContent(content), termtext.Piece(dialect.ErrorText(wire.Get(f.Raw, "error"))))
	case e.Call.Tool != "":
		result = resultText(content)
		if one := c.open[e.First]; one.tool != nil {
			one.tool.bad = saysBad(content)
		}
	}
	c.end(e.First, e.At, how, result)
}

// endTape ends the calls that are still open: they have no answer.
func (c *calls) endTape(at time.Duration) {
	for _, request := range slices.Sorted(maps.Keys(c.open)) {
		c.end(request, at, dialect.Errored, "no answer")
	}
}

// all returns the calls that are kept, in order.
func (c *calls) all() (list []Called) {
	of := c.first
	if c.count > mostKept {
		of = slices.Concat(c.first[:endCalls], c.bad, c.last)
	}
	slices.SortStableFunc(of, func(a, b *Called) int {
		return cmp.Or(cmp.Compare(a.Frame.Run, b.Frame.Run), cmp.Compare(a.Frame.Seq, b.Frame.Seq))
	})
	for _, one := range slices.Compact(of) {
		kept := *one
		kept.Ending = kept.How.String()
		list = append(list, kept)
	}
	return list
}

// told returns those of calls that are told.
func told(list []Called) []Called {
	if len(list) <= mostCalls {
		return list
	}
	between := slices.DeleteFunc(slices.Clone(list[endCalls:len(list)-endCalls]), func(c Called) bool { return c.How == dialect.Done })
	return slices.Concat(list[:endCalls], between[:min(len(between), badCalls)], list[len(list)-endCalls:])
}

// times returns what calls took, the longest first.
func (c *calls) times() (list []Spent) {
	for what, took := range c.spent {
		list = append(list, Spent{what, seconds(took)})
	}
	slices.SortFunc(list, func(a, b Spent) int { return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.What, b.What)) })
	return list[:min(len(list), mostSpent)]
}

// mostSpent limits the tools of which the time is told.
const mostSpent = 8

// saidColumns limits the columns of what a tool was given, and of what came back.
const saidColumns = 320

// inputOf returns the arguments of a call, each in one line.
func inputOf(arguments []byte) (list []string) {
	for _, value := range wire.Members(arguments) {
		v := wire.ValueOf(value)
		text := v.Raw()
		if v.IsString() {
			text = v.Text()
		}
		if text = termtext.CutWords(strings.ReplaceAll(termtext.Brief(text, 2*saidColumns), "↵ ", ""), saidColumns); text != "" && len(list) < maxArguments {
			list = append(list, text)
		}
	}
	return list
}

// resultText returns the beginning of what a tool returned, in one line.
func resultText(content []byte) string {
	for _, block := range wire.Elements(content) {
		output := cause.Plain(logTime().ReplaceAllString(cause.Beginning(wire.Text(wire.Get(block, "text"))), ""))
		text := OneLine(cmp.Or(strings.TrimSpace(foundNone().ReplaceAllString(output, "")), output))
		for line := range strings.Lines(output) {
			if wrongLine().MatchString(line) {
				text = termtext.Brief(strings.TrimSpace(line), 0)
				break
			}
		}
		if text != "" {
			return termtext.CutWords(text, saidColumns)
		}
	}
	return ""
}

// logTime matches the time before a line of a log.
var logTime = lazyregexp.New(`(?m)^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)? +`)

// foundNone matches a line of a result that says only that there is nothing of a kind.
var foundNone = lazyregexp.New(`(?mi)^(?:[\w ]+: )?no [\w -]+ (?:found|detected)\.?\s*$`)

// wrongLine matches a line of a result that tells of an error: a log's, an exception, or the
// status of an HTTP response.
var wrongLine = lazyregexp.New(`^\W*(?:ERROR|FATAL)\b|\b\w*(?:Error|Exception): |(?i:\[|=> |status\W{1,3}|status code |http/[\d.]+ )[45]\d\d\b`)

// SpentText says where the time went on a tape without turns.
func (s *Summary) SpentText() string {
	var list []string
	between := Spent{"between calls", s.Time.Idle}
	all := slices.Clone(s.Time.Spent)
	if between.Took > 0 {
		all = append(all, between)
	}
	slices.SortStableFunc(all, func(a, b Spent) int { return cmp.Compare(b.Took, a.Took) })
	for i, one := range all {
		if i == fewNames || i > 0 && one.Took < s.Took/100 {
			break
		}
		text := one.What + " " + one.Took.String()
		if pause := s.PauseText(); pause != "" && one == between {
			text += " (" + pause + ")"
		}
		list = append(list, text)
	}
	if list == nil {
		return ""
	}
	return s.ofWhole(list, all[0].Took)
}
