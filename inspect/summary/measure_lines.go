package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Did says what was done, in the words of Lines.
func (s *Summary) Did() string { return termtext.SpansText(s.turnLine(true), false) }

// timeLine, below a bar or without one, says how long the start took, what turns waited for and, unless
// it is to be brief, how long the first output took.
func (s *Summary) timeLine(bar bool, f form) []termtext.Span {
	var l line
	if s.Untimed {
		l.add(termtext.Dim, "no times on the tape")
		return l
	}
	if s.Turns.Count > 0 {
		l = append(l, s.parts(bar, f)...)
	} else {
		l.add(termtext.Plain, s.SpentText())
	}
	if o := s.Time.FirstOutput; o != nil && !f.brief && f.entry == 0 {
		l.add(termtext.Plain, o.text("first output after "))
	}
	if o := s.Time.Latency; o != nil {
		l.add(termtext.Plain, o.text("answered in "))
	}
	return l
}

// slowestRows tell what was slowest, one a row, or only the first where there is little room.
func (s *Summary) slowestRows(f form) (rows []Row) {
	wide := 0
	for _, step := range s.Time.Slowest {
		wide = max(wide, termtext.Width(step.Took.String()))
	}
	for i, step := range s.Time.Slowest {
		if s.Untimed || f.entry > 0 && i > 0 {
			break
		}
		head := termtext.Plain.Line(labelIndent(f.width))
		if i == 0 {
			head = labelSpan("slowest")
		}
		line := append(head, termtext.Bold.Span(termtext.Pad(step.Took.String(), wide)), termtext.Plain.Span("  "+step.What), frame(step.Frame))
		for _, one := range f.cut(wrapWords(line, f.width, labelIndent(f.width))) {
			rows = append(rows, Row{one, step.Frame})
		}
	}
	return rows
}

// A timePart is a part of the time of turns, and between them.
type timePart struct {
	of   string
	took seconds
}

// timeParts returns what the time went to, the biggest part first.
func (s *Summary) timeParts() (list []timePart) {
	add := func(of string, took, least seconds) {
		if took > 0 && took >= least {
			list = append(list, timePart{of, took})
		}
	}
	w := s.Time.Waited
	spent := trace.Spend{User: time.Duration(w.User), Client: time.Duration(w.Client), Tool: time.Duration(w.Tool), Agent: time.Duration(w.Agent)}
	for _, one := range stats.Parts(spent) {
		add(one.Of, seconds(one.Took), 0)
	}
	if s.Turns.Count > 0 {
		add("start-up", s.Time.StartUp, max(seconds(shownStartUp), s.Took/fewOf))
	}
	if s.IdleTells() {
		add(Idle, s.Time.Idle, 0)
	}
	slices.SortStableFunc(list, func(a, b timePart) int { return cmp.Compare(b.took, a.took) })
	return list
}

// IdleTells reports whether the time that no turn takes is long enough to be told.
func (s *Summary) IdleTells() bool {
	return s.Time.Idle >= max(seconds(time.Second), s.Took/fewOf)
}

// parts says what the time of turns, and between them, went to, after the whole and the biggest
// part first: in few words where rows are few, and below a bar each with its sign.
func (s *Summary) parts(bar bool, f form) (l line) {
	list := s.timeParts()
	for i, one := range list {
		text := one.of + " " + one.took.String()
		switch one.of {
		case "you":
			text = "waiting for your answer " + one.took.String()
		case "the agent":
			if l := s.Time.Limited; l != nil {
				text += l.text()
			}
		case "tools":
			if subagents := s.SubagentText(); subagents != "" {
				text += " (" + subagents + ")"
			}
		case Idle:
			if pause := s.PauseText(); pause != "" {
				text += " (" + pause + ")"
			}
		}
		switch {
		case i > 0:
		case one.took.String() != s.Took.String():
			l = append(l, termtext.Plain.Span(s.Took.String()+": "))
		}
		if bar {
			l = append(l, barLooks[one.of], termtext.Plain.Span(" "))
		}
		if i < len(list)-1 {
			text += ", "
		}
		if f.entry > 0 {
			text = strings.TrimPrefix(text, "waiting for ")
		}
		l = append(l, termtext.Plain.Span(text))
	}
	return l
}

// Idle is what the time is called that no turn takes.
const Idle = "waiting for your next prompt"

// barLooks are how the parts of the time look in a bar, which tells them apart without colours too.
var barLooks = map[string]termtext.Span{
	"tools": termtext.Tools.Span("█"), "you": termtext.Permission.Span("▓"), "the agent": termtext.LifeCycle.Span("▒"), "the client": termtext.Services.Span("▐"), "start-up": termtext.Dim.Span("▌"), Idle: termtext.Dim.Span("░"),
}

// timeBar draws the parts of the time in the order in which the line below names them; nil: there is
// no room, or nothing to draw.
func (s *Summary) timeBar(f form) (bar []termtext.Span) {
	parts := s.timeParts()
	if !f.loose || s.Untimed || len(parts) < 2 {
		return nil
	}
	whole, room := seconds(0), seconds(maxBar)
	for _, one := range parts {
		whole += one.took
	}
	if f.width > 0 {
		room = seconds(min(maxBar, max(f.width-LabelColumns, 1)))
	}
	for _, one := range parts {
		look := barLooks[one.of]
		columns := int((one.took*room + whole/2) / whole)
		if columns == 0 {
			continue
		}
		bar = append(bar, look.Style.Span(strings.Repeat(look.Text, columns)))
	}
	return bar
}

// maxBar is the widest bar.
const maxBar = 100

// SubagentText says how much of the time that turns waited for tools subagents took. It is empty if
// there were none.
func (s *Summary) SubagentText() string {
	took := min(s.Time.Subagents, s.Time.Waited.Tool)
	if took < seconds(time.Second) {
		return ""
	}
	return took.String() + " of it subagents"
}

// ofWhole joins parts of the time, the biggest first, after the whole if that is more.
func (s *Summary) ofWhole(parts []string, biggest seconds) string {
	text, whole := strings.Join(parts, ", "), s.Took.String()
	if biggest.String() == whole {
		return text
	}
	return whole + ": " + text
}

// fewOf is the part of the whole time that is too little to tell.
const fewOf = 50

// shownStartUp is the shortest start-up that is shown.
const shownStartUp = 100 * time.Millisecond

// slowLine says what was slow.
func (s *Summary) slowLine() []termtext.Span {
	var l line
	for _, one := range s.SlowTexts() {
		l.add(termtext.Slow, one.Text)
		l = append(l, frame(one.Frame))
		if one.More != "" {
			l = append(l, termtext.Plain.Span(one.More))
		}
	}
	return l
}

// stoppedLine says which tool calls the user stopped.
func (s *Summary) stoppedLine() []termtext.Span {
	var l line
	for _, one := range s.StoppedTexts() {
		l.add(termtext.Plain, one.Text)
		l = append(l, frame(one.Frame))
	}
	if l == nil {
		return nil
	}
	return append(line{termtext.Plain.Span("by the user: ")}, l...)
}

// StoppedTexts says which tool calls the user stopped by cancelling their turns, and after what time.
func (s *Summary) StoppedTexts() (list []Remark) {
	for _, one := range s.Stopped[:min(len(s.Stopped), maxWorst)] {
		list = append(list, Remark{Text: one.What + " after " + one.Took.String(), Frame: one.Frame})
	}
	return list
}

// RulesText says which rules changed the traffic, and how often. It is empty if none did.
func (s *Summary) RulesText() string {
	changes := 0
	for _, one := range s.Rules {
		changes += one.Count
	}
	if changes == 0 {
		return ""
	}
	return termtext.Counted(changes, "change") + " of the traffic by acptap: " + list(s.Rules)
}

// ruleLine says which rules changed the traffic.
func (s *Summary) ruleLine() []termtext.Span {
	text := s.RulesText()
	if text == "" {
		return nil
	}
	return line{termtext.Plain.Span(text)}
}

// A Remark is a sentence about a frame. More follows the frame's number.
type Remark struct {
	Text  string
	Frame Frame
	More  string
}

// SlowTexts say what was slow, after a sign, with the frame with which the longest wait ended,
// and that the agent's model was busy.
func (s *Summary) SlowTexts() (list []Remark) {
	if text, at := s.slowText(); text != "" {
		list = append(list, Remark{text, at, ""})
	}
	if r := s.Retries; r != nil {
		one := Remark{"! " + r.First.Text(), r.First.Frame, ""}
		if r.Count > 1 {
			one.More = fmt.Sprintf(" and %s more like it", termtext.Grouped(int64(r.Count-1)))
		}
		list = append(list, one)
	}
	return list
}

// RejectedTexts say what the user rejected.
func (s *Summary) RejectedTexts() (list []Remark) {
	for i, one := range s.Rejected.First {
		list = append(list, Remark{one.What, one.Frame, ""})
		if one.Later.Seq != 0 {
			list[i].More = "; allowed later (frame " + one.Later.Label + ")"
		}
		if more := s.Rejected.Count - len(s.Rejected.First); more > 0 && i == len(s.Rejected.First)-1 {
			list[i].More += fmt.Sprintf(" and %s more", termtext.Grouped(int64(more)))
		}
	}
	return list
}

// rejectedLine says what the user rejected.
func (s *Summary) rejectedLine() (l []termtext.Span) {
	for i, one := range s.RejectedTexts() {
		l = append(l, termtext.Plain.Span([]string{"by the user: ", ", "}[min(i, 1)]+one.Text), frame(one.Frame), termtext.Plain.Span(one.More))
	}
	return l
}

// slowText says what was slow, after a sign, and with which frame the longest wait ended. It
// is empty if nothing was slow.
func (s *Summary) slowText() (text string, at Frame) {
	waits, longest := 0, Slow{}
	for _, one := range s.Slow {
		waits += one.Count
		if one.Longest >= longest.Longest {
			longest = one
		}
	}
	if waits == 0 {
		return "", Frame{}
	}
	text = "! " + termtext.Counted(waits, "wait")
	if waits > 1 {
		text += ", the longest"
	}
	if longest.Longest > 0 {
		text += " " + longest.Longest.String()
	}
	return text + " " + slowTexts[longest.Kind], longest.Frame
}

// slowTexts say what a wait was for.
var slowTexts = map[string]string{
	dialect.Silent.String():      "for the agent",
	dialect.SilentTool.String():  "for a tool",
	dialect.SilentSetup.String(): "for the start",
	dialect.Hung.String():        "for an answer",
}

// String formats a duration for display.
func (s seconds) String() string { return termtext.Duration(time.Duration(s)) }

func (s *Spread) text(label string) string {
	median, worst := s.Median.String(), s.Worst.String()
	if median == worst {
		return label + median
	}
	return fmt.Sprintf("%s%s (median), %s at worst", label, median, worst)
}

// usageLine says which costs the agent reported for the turns, or that it reported none, and
// which tokens.
func (s *Summary) usageLine() []termtext.Span {
	var l line
	switch {
	case s.Turns.Count == 0 && len(s.Called) > 0:
		l.add(termtext.Dim, "not reported")
		return l
	case s.Turns.Count == 0:
		return nil
	}
	u, tokens := s.Usage, s.tokensText()
	switch s.addCosts(&l); {
	case l == nil && tokens == "":
		l.add(termtext.Dim, "no cost or tokens reported")
	case l == nil:
		l.add(termtext.Dim, "no cost reported")
	}
	l.add(termtext.Plain, tokens)
	if c := u.Context; c != nil && c.Size > 0 {
		text := fmt.Sprintf("context: %s of %s", termtext.Grouped(int64(c.Used)), termtext.Grouped(int64(c.Size)))
		if c.Peak > c.Used {
			text += " (peak " + termtext.Grouped(int64(c.Peak)) + ")"
		}
		l.add(termtext.Plain, text)
	}
	return l
}

// tokensText says how many tokens the agent reported, of which kinds, and for which turns unless for
// all. It is empty if it reported none.
func (s *Summary) tokensText() string {
	u, t := s.Usage, s.Usage.Tokens
	count := func(label string, n trace.Count) string {
		if !n.Given {
			return ""
		}
		return termtext.Grouped(int64(n.N)) + " " + label
	}
	text := commas(count("in", t.Input), count("out", t.Output), count("thought", t.Thought), count("cached", t.CachedRead), count("written to the cache", t.CachedWrite))
	if text == "" && !t.Total.Given {
		return ""
	}
	all := cmp.Or(count("tokens", t.Total), "tokens")
	switch {
	case u.Running:
		all = "~ " + all
	case u.Turns < s.Turns.Count:
		all += fmt.Sprintf(" in %d of %d turns", u.Turns, s.Turns.Count)
	}
	if text == "" {
		return all
	}
	return all + ": " + text
}

func (s *Summary) addCosts(l *line) {
	l.add(termtext.Plain, s.CostText())
}

// CostText says what the sessions have cost. It is empty if that was not reported.
func (s *Summary) CostText() string {
	var list []string
	for _, c := range s.Usage.Costs {
		text := fmt.Sprintf("%s %s", termtext.Amount(c.Amount), termtext.Piece(c.Currency))
		if c.Sessions > 1 {
			text += fmt.Sprintf(" in %d sessions", c.Sessions)
		}
		list = append(list, text)
	}
	return termtext.Dotted(list...)
}

// MoreFailures says how much failed besides the worst, such as `and 3 more errors`, and whether
// all of that was mended. It is empty if nothing did.
func (s *Summary) MoreFailures(worst []Failure) string {
	told, mended := map[dialect.Failure]int{dialect.FailedRequest: s.Failures.joined, dialect.FailedTool: s.Failures.none}, s.Failures.Mended
	for _, one := range worst {
		if !one.uncounted {
			told[one.Kind] += one.times()
			if one.Mended() {
				mended -= one.times()
			}
		}
	}
	more, kinds := 0, []string(nil)
	rest := slices.Clone(s.Failures.Kinds)
	for i := range rest {
		rest[i].Count -= told[rest[i].Kind]
		more += rest[i].Count
	}
	rest = slices.DeleteFunc(rest, func(k Failed) bool { return k.Count == 0 })
	end := ""
	if more == mended {
		end = allResolved
	}
	if len(rest) == 1 {
		return "and " + kindText(rest[0].Kind, rest[0].Count, "more ") + end
	}
	for _, k := range rest {
		kinds = append(kinds, kindText(k.Kind, k.Count, ""))
	}
	if kinds == nil {
		return ""
	}
	return fmt.Sprintf("and %d more: %s", more, strings.Join(kinds, ", ")) + end
}

const allResolved = ", all resolved later"

// kindText returns how many failures of a kind there are, with more before the noun.
func kindText(kind dialect.Failure, n int, more string) string {
	switch kind {
	case dialect.FailedRequest:
		return termtext.Counted(n, more+"error")
	case dialect.FailedTool:
		return termtext.Counted(n, more+"failed tool call")
	case dialect.Stopped:
		return termtext.Counted(n, more+"turn") + " stopped early"
	case dialect.Unanswered:
		return termtext.Counted(n, more+"request") + " without an answer"
	case dialect.InvalidLine:
		return termtext.Counted(n, more+"line") + " not JSON-RPC"
	case dialect.Gap:
		return termtext.Counted(n, more+"gap")
	}
	return termtext.Counted(n, more+"bad exit")
}

func frame(f Frame) termtext.Span { return termtext.Dim.Span(" (frame " + f.Label + ")") }
