package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	check "github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A head says what the tapes are about.
type head struct {
	Title  string
	Prompt bool     // Title is what was asked first
	Facts  []string // who spoke, when, and for how long
	Badges []badge
	Gist   *gist  // nil if there are two runs
	Shown  string // the selected part of a session; empty means all
}

// A gist says how the tapes came out, in the words and the order of acptap summary.
type gist struct {
	Outcome  status
	Running  bool
	Asked    []string   // lines that the title does not have; of a single turn, as is Answered
	Answered []string   // lines
	Says     string     // answered, or the word for an answer that has no end
	Turns    []exchange // if there are several: some of them
	Others   string     // how many others
	Did      string
	Time     timing
	Failed   []remark // the worst
	More     string   // how much else failed
	Nothing  bool     // that is known has failed
	Rejected []remark
	Slow     []remark
}

// A remark is a sentence about a place on the page, and what follows it.
type remark struct {
	Text, Link, Frame, More string
	Stderr                  *remark // what the agent wrote to stderr before; nil: nothing
}

func (r *reader) remark(one summary.Remark) remark {
	return remark{Text: one.Text, Link: r.place(one.Frame), Frame: one.Frame.Label, More: one.More}
}

// Limits on the lines of what was said.
const (
	askedLines  = 2
	answerLines = 3
)

func (r *reader) gist(title string) *gist {
	s := r.tally.Summary()
	g := &gist{Outcome: outcomeStatus(s.Outcome()), Running: r.live(), More: s.MoreFailures()}
	g.Did, g.Time, g.Others = s.Did(), r.timing(&s), s.MoreTurns()
	g.Outcome.Word = termtext.Spaced(g.Outcome.Word, s.Where())
	for i, one := range s.Exchanges {
		if len(s.Exchanges) > 1 {
			row := exchange{Turn: one.Turn, State: outcomeStatus(one.Outcome), Answered: summary.OneLine(one.Answered)}
			if i > 0 || !says(title, termtext.FirstLines(one.Asked, askedLines, 0)) {
				row.Asked = summary.OneLine(one.Asked)
			}
			g.Turns = append(g.Turns, row)
			continue
		}
		if g.Asked = termtext.FirstLines(one.Asked, askedLines, 0); says(title, g.Asked) {
			g.Asked = nil
		}
		g.Answered, g.Says = termtext.FirstLines(one.Answered, answerLines, 0), one.Label()
	}
	g.Nothing = s.Frames > 0 && s.Broken == 0 && len(s.Failures.Worst) == 0
	for _, f := range s.Failures.Worst {
		one := r.remark(summary.Remark{Text: f.What, Frame: f.Frame})
		if q := f.Stderr; q != nil {
			said := r.remark(summary.Remark{Text: q.Text(), Frame: q.Frame})
			one.Stderr = &said
		}
		g.Failed = append(g.Failed, one)
	}
	for _, one := range s.RejectedTexts() {
		g.Rejected = append(g.Rejected, r.remark(one))
	}
	for _, one := range s.SlowTexts() {
		g.Slow = append(g.Slow, r.remark(one))
	}
	return g
}

// An exchange is a turn in one line. It has no Asked if the title of the page has it.
type exchange struct {
	Turn            int
	State           status
	Asked, Answered string
}

// says reports whether a title tells all that is to be told of the first prompt.
func says(title string, asked []string) bool {
	if len(asked) != 1 {
		return false
	}
	title, line := strings.TrimSuffix(title, "…"), strings.TrimSuffix(asked[0], "…")
	return strings.HasPrefix(line, title) || strings.HasPrefix(title, line)
}

// place returns the id of the element that tells about a frame: a turn or a step of the
// story, or else its row in the list of frames.
func (r *reader) place(at summary.Frame) string {
	frame := r.frame(at.Run, at.Seq)
	return cmp.Or(r.places[frame], "frame-"+frame.String())
}

// mark notes where a turn and its steps are told.
func (r *reader) mark(one *turn) {
	t := one.of
	r.places[r.frame(t.Run, t.Prompt)], r.places[r.frame(t.Run, t.End)] = one.ID, one.ID
	var steps func(rows []*lane)
	steps = func(rows []*lane) {
		for _, l := range rows {
			if l.Item != nil && l.Item.of != nil {
				e := l.Item.of
				r.places[r.frame(e.Run, e.First)], r.places[r.frame(e.Run, e.Last)] = l.Item.ID, l.Item.ID
				if e.ToolCall != nil {
					for _, p := range e.ToolCall.Permissions {
						r.places[r.frame(e.Run, p.Response)] = l.Item.ID
					}
				}
			}
			steps(l.Below)
		}
	}
	steps(one.all)
}

// A badge is a word about how far to trust the page.
type badge struct{ Word, Class, Says string }

func (r *reader) head() head {
	h := head{Title: r.title(), Prompt: r.in.Title == "" && r.prompt() != "", Gist: r.gist(r.title()), Facts: r.facts(), Badges: append([]badge{r.redaction()}, r.harmed()...)}
	if r.in.First > 0 || r.in.Last > 0 {
		h.Shown = "Of the story, only the turns " + turnRange(r.in.First, r.in.Last) + " are shown."
	}
	return h
}

// peerColumns is where names of agents and clients are cut.
const peerColumns = 60

// facts returns who spoke, when, and for how long.
func (r *reader) facts() []string {
	first := r.in.Tapes[0].Info
	c := r.trace.Runs[len(r.trace.Runs)-1]
	var list []string
	for _, who := range []string{
		cmp.Or(tapetext.Peer(c.AgentTitle, c.Agent, c.AgentVersion, peerColumns), termtext.Line(tapetext.AgentName(first))),
		tapetext.Peer(c.ClientTitle, c.Client, c.ClientVersion, peerColumns),
	} {
		if who != "" {
			list = append(list, who)
		}
	}
	if c.Dialect != 0 {
		list = append(list, termtext.Line(c.Spoken()))
	}
	if t := first.Start.Time; !t.IsZero() {
		list = append(list, t.Format("2 January 2006, 15:04 MST"))
	}
	if s := r.tally.Summary(); !s.Untimed {
		list = append(list, termtext.Duration(time.Duration(s.Took)))
	}
	if n := len(r.in.Tapes); n > 1 {
		list = append(list, fmt.Sprintf("%d tapes", n))
	}
	return list
}

func turnRange(first, last int) string {
	switch {
	case last == 0:
		return fmt.Sprintf("from %d on", first)
	case first == last:
		return fmt.Sprintf("numbered %d", first)
	}
	return fmt.Sprintf("%d to %d", max(first, 1), last)
}

// noTurn returns an error if turns are requested but no session has any of them.
func (r *reader) noTurn() error {
	if r.in.First == 0 && r.in.Last == 0 {
		return nil
	}
	last := 0
	for _, s := range r.sessions() {
		for _, t := range s.Conversation.Turns {
			if r.shows(t) {
				return nil
			}
			last = max(last, t.Number)
		}
	}
	if last == 0 {
		return errors.New("no session has a turn")
	}
	return fmt.Errorf("no session has turns %s: the last one is %d", turnRange(r.in.First, r.in.Last), last)
}

// shows reports whether a turn is requested.
func (r *reader) shows(t *trace.Turn) bool {
	return t.Number >= r.in.First && (r.in.Last == 0 || t.Number <= r.in.Last)
}

// title returns the title of the page: the first line of the first prompt.
func (r *reader) title() string {
	if r.in.Title != "" {
		return termtext.Line(r.in.Title)
	}
	return r.topic()
}

// topic returns what the first prompt asks for, otherwise the title of a session or the name
// of the agent.
func (r *reader) topic() string {
	if line := r.prompt(); line != "" {
		return line
	}
	for _, s := range r.sessions() {
		if s.Title != "" {
			return termtext.Line(s.Title)
		}
	}
	return termtext.Line(tapetext.AgentName(r.in.Tapes[0].Info))
}

// prompt returns the first line of the first prompt with text.
func (r *reader) prompt() string {
	for _, s := range r.sessions() {
		for _, e := range s.Conversation.Entities {
			if e.Message != nil && e.Message.Role == trace.User && !e.Replayed {
				if line := firstLine(e.Message.Text()); line != "" {
					return line
				}
			}
		}
	}
	return ""
}

// longestTitle limits the characters of a prompt used as the title.
const longestTitle = 300

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(termtext.Text(text)), "\n")
	return termtext.Brief(termtext.Unmarked(line), longestTitle)
}

// redaction returns the badge about secrets in the page.
func (r *reader) redaction() badge {
	if r.in.Raw {
		return badge{"raw", "bad", "secrets were not searched for"}
	}
	return badge{"redacted", "", "secrets that acptap found are replaced by [redacted]"}
}

// state returns how the tapes came out, and warnings about them.
func (r *reader) state() []badge {
	s := r.tally.Summary()
	o := outcomeStatus(s.Outcome())
	return append([]badge{{o.Word, o.Class, "how the tapes came out"}}, r.harmed()...)
}

// harmed returns warnings if parts of the tapes are missing, or rules changed the traffic.
func (r *reader) harmed() (list []badge) {
	if len(r.broken) > 0 || r.lost() > 0 {
		list = append(list, badge{"damaged", "bad", "parts of the tape are missing"})
	}
	s := r.tally.Summary()
	if text := s.RulesText(); text != "" {
		list = append(list, badge{"under rules", "warn", text})
	}
	return list
}

func (r *reader) lost() (bytes int64) {
	for _, t := range r.in.Tapes {
		bytes += t.Info.Lost
	}
	return bytes
}

// sessions returns the sessions that are shown.
func (r *reader) sessions() []*trace.Session {
	var list []*trace.Session
	for _, s := range r.trace.Sessions {
		if r.in.Session == "" || s.ID == r.in.Session {
			list = append(list, s)
		}
	}
	return list
}

// A figure is a number at the head of the page. Wrong is separate so that it can be
// coloured.
type figure struct {
	Label string
	Value value
	Note  string
	Wrong string
	At    string // id of the first thing that is wrong; empty if not on the page
	Told  bool   // the lines of the head tell it
}

// untold returns the figures that the lines of the head do not tell.
func (r *reader) untold() []figure {
	return slices.DeleteFunc(r.figures(), func(f figure) bool { return f.Told })
}

// figures returns the numbers of the tapes, the cost first. It omits a number that would be
// 0 of 0.
func (r *reader) figures() []figure {
	s := r.tally.Summary()
	turns := r.tally.Stats.Turns()
	var list []figure
	add := func(label string, of value, note, wrong string) {
		list = append(list, figure{Label: label, Value: of, Note: note, Wrong: wrong})
	}
	if s.Turns.Count > 0 {
		list = append(list, usage(&s)...)
	}
	told := func(label string, of value, note, wrong, at string) {
		list = append(list, figure{label, of, note, wrong, at, true})
	}
	if n := s.Turns.Count; n > 0 {
		var ends []string
		for _, e := range s.Turns.Ends {
			ends = append(ends, fmt.Sprintf("%d %s", e.Count, e.What))
		}
		if s.Turns.Running > 0 {
			ends = append(ends, fmt.Sprintf("%d running", s.Turns.Running))
		}
		told("turns", count(n), strings.Join(ends, ", "), "", "")
	}
	if o := s.Time.FirstOutput; o != nil {
		note := ""
		if o.Worst > o.Median {
			note = "median; worst " + termtext.Duration(time.Duration(o.Worst))
		}
		add("first output after", timeOf(time.Duration(o.Median)), note, "")
	}
	if s.Turns.Count == 0 {
		calls := 0
		for _, c := range s.Calls {
			calls += c.Count
		}
		if calls > 0 {
			note := ""
			if l := s.Time.Latency; l != nil {
				note = "median " + termtext.Duration(time.Duration(l.Median)) + "; worst " + termtext.Duration(time.Duration(l.Worst))
			}
			add("calls", count(calls), note, "")
		}
	}
	if n := turns.Work.Tools; n > 0 {
		told("tool calls", count(n), "", failed(turns.Work.FailedTools), r.failedTool())
	}
	if asked := r.asked(); asked > 0 && s.Turns.Count > 0 {
		told("waited for you", timeOf(time.Duration(s.Time.Waited.User)), "asked "+termtext.Times(asked), "", "")
	}
	if n := s.Failures.Count; n > 0 {
		told("failures", count(n), "", "", r.place(s.Failures.Worst[0].Frame))
	}
	if found := r.found(); found.Total() > 0 {
		note, wrong := "", ""
		if n := found[conform.Note]; n > 0 {
			note = "and " + termtext.Counted(n, "note")
		}
		if n := found[conform.Violation]; n > 0 {
			wrong = termtext.Counted(n, "violation")
		}
		add("findings", count(found.Total()-found[conform.Note]), note, wrong)
		list[len(list)-1].At = "findings"
	}
	var bytes int64
	for _, t := range r.in.Tapes {
		bytes += t.Info.Bytes
	}
	note := ""
	if r.in.Session == "" {
		note = termtext.ByteSize(bytes)
	}
	add("frames", count(int(s.Frames)), note, "")
	return list
}

// usage returns which costs and tokens the agent reported for the turns.
func usage(s *summary.Summary) []figure {
	u, t := s.Usage, s.Usage.Tokens
	note := ""
	switch {
	case u.Running:
		note = "of the whole session"
	case u.Turns > 0 && u.Turns < s.Turns.Count:
		note = fmt.Sprintf("in %d of %s", u.Turns, termtext.Counted(s.Turns.Count, "turn"))
	}
	var list []figure
	for _, c := range u.Costs {
		list = append(list, figure{Label: "cost", Value: amount(c.Amount, c.Currency)})
	}
	if u.Costs == nil {
		list = append(list, figure{Label: "cost", Note: "not reported"})
	}
	tokens := func(label string, n trace.Count) {
		if n.Given {
			list = append(list, figure{Label: label, Value: count(int(min(n.N, math.MaxInt))), Note: note})
		}
	}
	if t.Total.Given && !t.Input.Given && !t.Output.Given {
		tokens("tokens in all", t.Total)
	} else {
		tokens("tokens in", t.Input)
		tokens("tokens out", t.Output)
	}
	tokens("tokens cached", t.CachedRead)
	if c := u.Context; c != nil {
		context := figure{Label: "tokens in context", Value: count(int(min(c.Used, math.MaxInt)))}
		if c.Size > 0 {
			context.Note = "of " + termtext.Grouped(int64(c.Size)) + ", " + stats.Share(int64(c.Used), int64(c.Size)).String()
		}
		list = append(list, context)
	} else if t == (trace.Tokens{}) {
		list = append(list, figure{Label: "tokens", Note: "not reported"})
	}
	return list
}

// failedTool returns the id of the first failed tool call in the story.
func (r *reader) failedTool() string {
	for _, s := range r.sessions() {
		for _, e := range s.Conversation.Entities {
			if e.ToolCall != nil && !e.Replayed && e.ToolCall.Failed() {
				return r.frame(e.Run, e.First).ID()
			}
		}
	}
	return ""
}

// asked returns how often the user was asked for permission.
func (r *reader) asked() (n int) {
	for _, c := range r.trace.Calls {
		if dialect.AreaOf(c.Method, "") == dialect.Permission {
			n++
		}
	}
	return n
}

func failed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s failed", termtext.Grouped(int64(n)))
}

// found counts the findings.
func (r *reader) found() (n check.Tally) {
	for _, t := range r.in.Tapes {
		for _, lines := range t.Findings {
			for _, l := range lines {
				n[l.Strength]++
			}
		}
	}
	return n
}
