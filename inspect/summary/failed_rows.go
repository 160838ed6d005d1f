package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/summary/cause"
	"github.com/acptap/acptap/inspect/summary/shell"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/termtext"
)

// Together are failures that are told in a few words each, after a text that says how many they are.
type Together struct {
	Text     string
	Failures []Failure
}

// Told returns the failures that are told one by one: if there is room for a row each, and no row of
// a call tells them, many; otherwise those that may be open. The others are told together.
func (s *Summary) Told(room bool) (each []Failure, together []Together) {
	f, most := &s.Failures, maxWorst
	if room && len(s.Called) == 0 {
		most = mostFailed
	}
	if len(f.Worst) <= most {
		return f.Worst, nil
	}
	var passed, past, round, mended []Failure
	for _, one := range f.Worst {
		switch {
		case one.Fate == gotRound:
			round = append(round, one)
		case one.Mended():
			mended = append(mended, one)
		case one.wentOn:
			past = append(past, one)
		case one.passed && len(each) >= maxWorst:
			passed = append(passed, one)
		default:
			each = append(each, one)
		}
	}
	tell := func(list []Failure, what string) {
		switch n := len(list); {
		case n == 0:
		case len(each)+len(together) == 0:
			together = append(together, Together{fmt.Sprintf("%d, %s: ", n, what), list})
		default:
			together = append(together, Together{fmt.Sprintf("and %d more, %s: ", n, what), list})
		}
	}
	tell(passed, notMended)
	tell(past, wentOn)
	tell(round, gotRound)
	tell(mended, "mended")
	return each, together
}

// OpenText says how many failures are open. It is empty if none is, or the tapes are still recorded.
func (s *Summary) OpenText() string {
	if s.Failures.Unmended == 0 || s.Outcome().How == dialect.Running {
		return ""
	}
	return termtext.Counted(s.Failures.Unmended, "failure") + " " + notMended
}

// Shorts tell failures in a few words each, those that read the same once, with the frame of the
// first of them.
func Shorts(list []Failure) (shorts []Remark) {
	count := map[string]int{}
	for i := range list {
		name, why := list[i].short()
		if count[name+why]++; count[name+why] == 1 {
			shorts = append(shorts, Remark{Text: name, More: why, Frame: list[i].Frame})
		}
	}
	for i := range shorts {
		if n := count[shorts[i].Text+shorts[i].More]; n > 1 {
			shorts[i].More += fmt.Sprintf(" ×%d", n)
		}
	}
	return shorts
}

const (
	shortColumns = 66  // of a failure in a few words
	mostFailed   = 10  // failures that have a row each where there is room
	hangingWidth = 100 // of a screen on which all of a failure stands below its beginning
	fewFailed    = 4   // failures that are told whole though the work went on
	afterRows    = 6   // failures that have a row for their aftermath
)

// short tells a failure in a few words, such as "mix test" and " (3 failures)".
func (f *Failure) short() (name, why string) {
	name = strings.TrimSuffix(f.What, because(f.why))
	switch t := &f.tried; {
	case t.title != "":
		name = shortened(t.name())
	case dialect.Does(t.method, dialect.CallsTool) && t.object != "":
		name = t.object
	}
	why = faultSign().ReplaceAllString(f.why, "")
	if count := shortCount().FindStringSubmatch(f.why); count != nil {
		why = count[1]
	}
	name = cutCommand(name, max(shortColumns/2, shortColumns-termtext.Width(why)))
	if why != "" {
		why = " (" + cause.Cut(why, shortColumns-termtext.Width(name)) + ")"
	}
	return name, why
}

// Brief returns what Said does in so many columns: if both are long, half of them are for why it failed.
func (f *Failure) Brief(columns int) (what, why string) {
	why = because(f.why)
	what = strings.TrimSuffix(f.What, why)
	what = cutCommand(what, max(columns/2, columns-termtext.Width(why)))
	if why != "" {
		why = ": " + cause.Cut(strings.TrimPrefix(why, ": "), max(columns-termtext.Width(what)-2, 1))
	}
	return what, why
}

// shortCount matches how much is wrong.
var shortCount = lazyregexp.New(`(?i)(?:^|[,:|·(] |\b(?:tests?|with) )([1-9]\d* (?:tests? |specs? |suites? )?(?:failed|failing|failures?|errors?))\b`)

// faultSign matches what says before a cause only that it is one, and where it is.
var faultSign = lazyregexp.New(`^(?:\[[\w.]+ \d+:[\d:.]+\] +)?(?:\S*\.\w+(?:\(\d+,\d+\)|:\d+(?::\d+)?): )?\W*(?:\w+\) )?(?i:(?:(?:internal )?error|fatal)(?:\[\w+\]| [A-Z]+\d+)?: )?\W*`)

// shortened returns a title without flags, without what comes behind a pipe, and with the names of
// files for their paths.
func shortened(title string) string {
	title, _, _ = strings.Cut(title, " | ")
	words := slices.DeleteFunc(strings.Fields(title), func(word string) bool { return shell.IsFlag(word) || strings.HasPrefix(word, "2>") })
	for i, word := range words {
		if !strings.Contains(word, "://") {
			words[i] = word[strings.LastIndexByte(strings.TrimRight(word, "/"), '/')+1:]
		}
	}
	return strings.Join(words, " ")
}

// failedRows say what failed, the worst first: a few rows for each that may be open, where there is
// room a row for each of the others, and what else is wrong with the tape.
func (s *Summary) failedRows(f form) (rows []Row) {
	margin := labelIndent(f.width)
	label := func() []termtext.Span {
		if len(rows) == 0 {
			return labelSpan("failed")
		}
		return termtext.Plain.Line(margin)
	}
	under := func(at Frame, indent string, spans ...termtext.Span) {
		for _, line := range f.cut(wrapWords(append(label(), spans...), f.width, indent)) {
			rows = append(rows, Row{line, at})
		}
	}
	add := func(at Frame, spans ...termtext.Span) { under(at, margin, spans...) }
	each, together := s.Told(f.wide)
	for i := range each {
		one := &each[i]
		what, why, at := one.Said()
		style, after := one.Style(), []termtext.Span{frame(at)}
		if q := one.Stderr; q != nil {
			after = append(after, termtext.Plain.Span(", "+q.Text()), frame(q.Frame))
		}
		if again := one.Repeated(); again != "" {
			after = append(after, termtext.Plain.Span(again))
		}
		sign := one.Sign() + " "
		if word := one.Word(); word != "" {
			sign += termtext.Pad(word, len(gotRound)+2)
		}
		if one.Past() && f.width > 0 && !f.whole && (len(each) > fewFailed || !f.loose) {
			what, why = one.Brief(max(f.width-len(margin)-termtext.Width(sign)-termtext.SpansWidth(after), shortColumns))
		}
		inner := margin
		if one.Word() != "" && (f.width <= 0 || f.width >= hangingWidth) {
			inner += strings.Repeat(" ", termtext.Width(sign))
		}
		under(at, inner, append([]termtext.Span{one.MarkStyle().Span(sign), nameStyle(style, why).Span(what), style.Span(why)}, after...)...)
		text := one.Aftermath(f.wide && len(each) <= afterRows)
		if text == "" || !f.wide && !one.Past() {
			continue
		}
		if room := f.width - termtext.Width(inner); f.width > 0 && !f.whole {
			text = termtext.CutWords(text, max(room, 1))
		}
		style = termtext.Dim
		if one.Mended() {
			style = termtext.Plain
		}
		for _, line := range f.cut(wrapWords(append(termtext.Plain.Line(inner), style.Span(text)), f.width, inner)) {
			rows = append(rows, Row{line, at})
		}
	}
	for _, t := range together {
		rows = append(rows, togetherRows(append(label(), termtext.Plain.Span(t.Text)), Shorts(t.Failures), f)...)
	}
	switch more := s.MoreFailures(s.Failures.Worst); {
	case strings.HasSuffix(more, allResolved):
		add(Frame{}, termtext.Plain.Span(more))
	case more != "":
		add(Frame{}, termtext.Failure.Span(more))
	}
	if s.Broken > 0 {
		add(Frame{}, termtext.Failure.Span(termtext.Counted(s.Broken, "part")+" of the tape cannot be read"))
	}
	if rows == nil && s.Frames > 0 {
		add(Frame{}, termtext.Plain.Span("nothing"))
	}
	return rows
}

// nameStyle returns the style of what failed, before a reason in another one.
func nameStyle(style termtext.Style, why string) termtext.Style {
	if why == "" && style != termtext.Plain {
		return style
	}
	return termtext.Bold
}

// togetherRows tell failures in a few words each, after a lead. A row is about the first that begins
// in it.
func togetherRows(lead []termtext.Span, list []Remark, f form) (rows []Row) {
	w := wrapper{width: max(f.width, len(labelIndent(f.width))+1), indent: labelIndent(f.width)}
	if f.width <= 0 {
		w.width = math.MaxInt
	}
	w.add(lead)
	frames := map[int]Frame{}
	for i, one := range list {
		end := ", "
		if i == len(list)-1 {
			end = ""
		}
		w.add(termtext.Plain.Line(one.Text + one.More + end))
		if _, known := frames[len(w.lines)]; !known {
			frames[len(w.lines)] = one.Frame
		}
	}
	for i, line := range f.cut(append(w.lines, w.current)) {
		rows = append(rows, Row{line, frames[i]})
	}
	return rows
}
