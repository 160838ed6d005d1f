package report

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A head says what the tapes are about.
type head struct {
	Title  string
	Prompt bool     // Title is what was asked first
	Long   bool     // it does not fit two lines unless they are small
	Facts  []string // who spoke, when, and for how long
	Badges []badge
	Gist   *gist  // nil if there are two runs
	Shown  string // the selected part of a session; empty means all
}

// A badge is a word about how far to trust the page.
type badge struct{ Word, Class, Says string }

func (b badge) html() h.Node {
	return h.Span(h.Class("badge "+b.Class), h.Title(b.Says), h.Text(b.Word))
}

func (r *reader) head() head {
	h := head{Title: r.title(), Long: termtext.Width(r.title()) > 2*titleColumns, Prompt: r.in.Title == "" && r.prompt() != "", Gist: r.gist(r.title()), Facts: r.facts(), Badges: append([]badge{r.redaction()}, r.harmed()...)}
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
		if who != "" && who != r.title() {
			list = append(list, who)
		}
	}
	if c.Dialect != 0 {
		list = append(list, termtext.Line(c.Spoken()))
	}
	if t := first.Start.Time; !t.IsZero() {
		list = append(list, t.Format("2 January 2006, 15:04 MST"))
	}
	if s := r.sum; !s.Untimed {
		list = append(list, termtext.Duration(time.Duration(s.Took)))
	}
	if n := len(r.in.Tapes); n > 1 {
		list = append(list, fmt.Sprintf("%d tapes", n))
	}
	return list
}

// fact returns a fact beside others.
func fact(text string) h.Node { return h.Span(h.Text(text)) }

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
	s := r.sum
	how := s.Verdict()
	return append([]badge{{how.Text, outcomeClasses[how.Style], "how the tapes came out"}}, r.harmed()...)
}

// harmed returns warnings if parts of the tapes are missing, or rules changed the traffic.
func (r *reader) harmed() (list []badge) {
	if len(r.broken) > 0 || r.lost() > 0 {
		list = append(list, badge{"damaged", "bad", "parts of the tape are missing"})
	}
	s := r.sum
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
