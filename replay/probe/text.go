package probe

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/script"
)

// A Text writes a Report as text.
type Text struct {
	W     io.Writer
	Color bool
	Width int  // column at which lines wrap; 0: they do not
	All   bool // also list the cases that are ok or were not tried
}

// Write writes the report: faults first, from worst to mildest, then rule findings, what was
// only told, and counts.
func (t *Text) Write(r *Report) error {
	w := bufio.NewWriter(t.W)
	width := 0
	for i := range r.Results {
		if res := &r.Results[i]; t.shows(res.Outcome) {
			width = max(width, len(r.title(res)))
		}
	}
	for _, group := range r.causes(func(res *Result) bool { return t.All || !res.known() }) {
		t.wrong(w, r, group[0], width, group[1:]...)
	}
	for _, f := range r.Rest() {
		if t.All || !f.Known {
			t.finding(w, &f)
		}
	}
	t.told(w, r)
	if t.All {
		t.rest(w, r, width)
	}
	fmt.Fprintln(w, t.total(r))
	return w.Flush()
}

// causes returns the failed results, worst first, each followed by those with the same cause.
func (r *Report) causes(wanted func(*Result) bool) (groups [][]*Result) {
	for _, o := range []Outcome{Stuck, Broken, Weak, Hurts} {
		first := map[cause]int{}
		for i := range r.Results {
			res := &r.Results[i]
			if res.Outcome != o || !wanted(res) {
				continue
			}
			c, ok := res.cause()
			if at, seen := first[c]; ok && seen {
				groups[at] = append(groups[at], res)
				continue
			}
			if ok {
				first[c] = len(groups)
			}
			groups = append(groups, []*Result{res})
		}
	}
	return groups
}

// known reports whether a failed result is known.
func (res *Result) known() bool { return res.Fault != nil && res.Fault.Known }

func (t *Text) shows(o Outcome) bool { return t.All && o != Told || o >= Hurts }

// title returns a case's ID, with the dialect if the peer speaks several.
func (r *Report) title(res *Result) string {
	if len(r.Dialects) > 1 {
		return res.Case.ID + " " + scopeName(res.Dialect)
	}
	return res.Case.ID
}

// strength returns the weight of a result, which an exception may lower.
func (res *Result) strength() conform.Strength {
	if res.Fault != nil && res.Fault.Strength != conform.None {
		return res.Fault.Strength
	}
	return res.Outcome.Strength()
}

var signs = map[Outcome]string{OK: "✓", NotOffered: "·", NotTried: "·", Told: "·", Stuck: "?"}

// sign returns the sign of a result for the terminal.
func (t *Text) sign(res *Result) string {
	sign, style := signs[res.Outcome], termtext.Failure
	if s := res.strength(); s != conform.None {
		sign, style = report.Sign(s), report.StyleOf(s)
	}
	if t.Color {
		return style.Paint(sign)
	}
	return sign
}

// Case returns the lines about a failed result.
func (r *Report) Case(res *Result) string {
	var b strings.Builder
	(&Text{}).wrong(&b, r, res, 0)
	return b.String()
}

// String returns the finding as one line.
func (f *Finding) String() string {
	return fmt.Sprintf("%s %s  %s: %s (%s; acptap show %s:%d)", f.Rule.ID, f.Rule.Name, f.Strength, report.Said(&f.Finding.Finding), caseList(f.Cases), f.First.Ref(), f.Seq)
}

// wrong writes a failed case, its explanation, its tape, and the cases with the same cause.
func (t *Text) wrong(w io.Writer, r *Report, res *Result, width int, same ...*Result) {
	how := res.Outcome.String()
	if res.Runs > 1 {
		how += fmt.Sprintf(" %d of %d", res.Times, res.Runs)
	}
	if res.known() {
		how += " (known)"
	}
	t.line(w, fmt.Sprintf("%s %-*s  %-6s  %s", t.sign(res), width, r.title(res), how, res.Says()), "    ")
	t.line(w, "    "+res.Case.Title, "    ")
	facts := slices.DeleteFunc([]string{res.Case.Source, res.evidence()}, func(s string) bool { return s == "" })
	t.line(w, "    "+strings.Join(facts, " · "), "    ")
	if len(same) > 0 {
		var also []string
		for _, res := range same {
			also = append(also, r.title(res))
		}
		t.line(w, "    the same in "+strings.Join(also, ", "), "    ")
	}
}

// evidence returns the command that shows the tape of a result, or "" if there is none.
func (res *Result) evidence() string {
	switch {
	case res.Name == "":
		return ""
	case len(res.Frames) > 0:
		return fmt.Sprintf("acptap show %s:%d", res.Ref(), res.Frames[0])
	}
	return "acptap show " + res.Ref()
}

// Says returns a clause about what came instead of what was expected.
func (res *Result) Says() string {
	if res.Step == nil {
		return res.Got
	}
	text := "wanted " + Wanted(res.Step) + ", got " + res.Got
	if strings.HasPrefix(res.Got, "it ") || strings.HasPrefix(res.Got, "nothing ") || strings.Contains(res.Got, " still ran ") {
		text = "wanted " + Wanted(res.Step) + ": " + res.Got
	}
	if res.Step.Name == "alive" {
		text = "afterwards: " + text
	}
	return text
}

// Wanted describes what a step waits for.
func Wanted(s *script.Step) string {
	what := map[script.Verb]string{script.Result: "a result", script.Error: "an error", script.Answer: "an answer", script.Answers: "answers to all requests", script.Message: "a message", script.Exits: "its end", script.Closes: "the end of the connection", script.Children: "the end of all that it started"}[s.Verb]
	switch s.Verb {
	case script.Request, script.Notify:
		what = s.Method
	case script.None:
		return strings.TrimSuffix("no "+s.Method+" to "+s.Name, " to ")
	case script.Exits:
		if s.Words != nil {
			return "its end with an error"
		}
	case script.Shows:
		what = strconv.Quote(string(s.Bytes)) + " on its stdout"
	case script.Echo:
		what = "its MCP server " + strings.Join(s.Words, ", ")
	}
	if s.Code != "" {
		what += " " + s.Code
	}
	if s.Name != "" && s.Name != "alive" && (s.Verb == script.Result || s.Verb == script.Error || s.Verb == script.Answer) {
		what += " to " + s.Name
	}
	if s.Given {
		what += " " + script.Short(s.Value)
	}
	return what
}

func (t *Text) finding(w io.Writer, f *Finding) {
	sign := report.Sign(f.Strength)
	if t.Color {
		sign = report.StyleOf(f.Strength).Paint(sign)
	}
	t.line(w, sign+" "+f.String(), "    ")
}

// caseList returns a short list of cases.
func caseList(ids []string) string {
	const most = 3
	if len(ids) > most {
		return fmt.Sprintf("%s and %d more cases", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return strings.Join(ids, ", ")
}

func (t *Text) told(w io.Writer, r *Report) {
	var all []string
	for i := range r.Results {
		if res := &r.Results[i]; len(res.Told) > 0 {
			all = append(all, r.title(res)+": "+strings.Join(res.Told, "; "))
		}
	}
	if len(all) > 0 {
		t.line(w, "· told, and held against nobody: "+strings.Join(all, " · "), "    ")
	}
}

// rest writes the cases that are ok, not offered or not tried.
func (t *Text) rest(w io.Writer, r *Report, width int) {
	for _, o := range []Outcome{NotTried, NotOffered, OK} {
		for i := range r.Results {
			if res := &r.Results[i]; res.Outcome == o {
				got := res.Says()
				if o == OK {
					got = res.Case.Title
				}
				t.line(w, fmt.Sprintf("%s %-*s  %s: %s", signs[o], width, r.title(res), o, got), "    ")
			}
		}
	}
}

// total returns the peer and the number of cases by outcome.
func (t *Text) total(r *Report) string {
	parts := []string{r.Peer(), r.speaks()}
	for _, o := range []Outcome{OK, Broken, Weak, Hurts, Told, NotOffered, Stuck} {
		if n := r.Count(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	if n := r.Count(NotTried); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not tried: %s", n, r.reasons()))
	}
	if n := len(r.Rest()); n > 0 {
		parts = append(parts, termtext.Counted(n, "finding")+" of rules")
	}
	known := 0
	for _, f := range r.Faults() {
		if f.Known {
			known++
		}
	}
	if known > 0 {
		parts = append(parts, fmt.Sprintf("%d known", known))
	}
	return strings.Join(append(parts, fmt.Sprintf("%.0f s", r.Seconds)), " · ")
}

func (r *Report) speaks() string {
	var names []string
	for _, d := range r.Dialects {
		names = append(names, scopeName(d))
	}
	if r.Kind == Server {
		return "MCP"
	}
	return "ACP " + strings.Join(names, " and ")
}

// reasons returns why cases were not tried, the most frequent reason first.
func (r *Report) reasons() string {
	counts := map[string]int{}
	for i := range r.Results {
		res := &r.Results[i]
		switch {
		case res.Outcome != NotTried:
		case res.Step != nil:
			counts["what has to come first failed"]++
		default:
			counts[res.Got]++
		}
	}
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	const most = 2
	if len(reasons) > most {
		return strings.Join(reasons[:most], ", ") + ", …"
	}
	return strings.Join(reasons, ", ")
}

// line writes a line, wrapped if Width is set.
func (t *Text) line(w io.Writer, text, indent string) {
	if t.Width == 0 {
		fmt.Fprintln(w, termtext.Line(text))
		return
	}
	for i, line := range termtext.Wrap(termtext.Line(text), t.Width-len(indent)) {
		if i > 0 {
			line = indent + line
		}
		fmt.Fprintln(w, line)
	}
}
