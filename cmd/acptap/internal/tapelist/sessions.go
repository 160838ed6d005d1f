package tapelist

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A SessionRow is a session in a list.
type SessionRow struct {
	record.SessionInfo
	Name  string      // a REF for it: its id, with a tape if other sessions have that id too
	Short string      // an unambiguous beginning of the id, or the name
	Tape  record.Info // the latest tape that it is on

	deaths uint64 // how often its agent died
}

// Failures returns the failures of all runs, with the deaths of the agent.
func (r *SessionRow) Failures() uint64 { return r.SessionInfo.Failures() + r.deaths }

// Sessions returns the rows for sessions. all is the store's listing.
func Sessions(sessions []record.SessionInfo, all *record.Listing) []SessionRow {
	tapes := make(map[string]record.Info, len(all.Tapes))
	for _, i := range all.Tapes {
		tapes[i.Tape] = i
	}
	ids := make([]string, 0, len(all.Sessions)+len(all.Deleted))
	for _, list := range [][]record.SessionInfo{all.Sessions, all.Deleted} {
		for _, s := range list {
			ids = append(ids, s.ID)
		}
	}
	slices.Sort(ids)
	rows := make([]SessionRow, len(sessions))
	for n, s := range sessions {
		rows[n] = SessionRow{SessionInfo: s, Name: s.ID, Tape: tapes[s.Runs[len(s.Runs)-1].Tape]}
		for _, r := range s.Runs {
			if tapes[r.Tape].Worst.How == dialect.Died {
				rows[n].deaths++
			}
		}
		short, unique := beginning(s.ID, ids)
		if rows[n].Short = short; !unique {
			rows[n].Name = ref.SessionName(s)
			rows[n].Short = rows[n].Name
		}
	}
	return rows
}

// OuterSessions returns the sessions on tapes that are neither nested nor made by acptap
// probe. all is the store's listing.
func OuterSessions(sessions []record.SessionInfo, all *record.Listing) []record.SessionInfo {
	nesting := record.NestingOf(all.Tapes)
	probes := map[string]bool{}
	for _, i := range all.Tapes {
		run, _ := record.ProbeOf(i.Start)
		probes[i.Tape] = run != ""
	}
	isOuter := func(r record.Run) bool { return nesting.Parent(r.Tape) == "" && !probes[r.Tape] }
	return slices.DeleteFunc(slices.Clone(sessions), func(s record.SessionInfo) bool {
		return !slices.ContainsFunc(s.Runs, isOuter)
	})
}

// leastBeginning is the minimum length of a shown session id.
const leastBeginning = 8

// beginning returns the shortest beginning of id that no other id in a sorted list has,
// or all of it if that is little longer. unique is false if the list contains id more
// than once.
func beginning(id string, sorted []string) (short string, unique bool) {
	at, _ := slices.BinarySearch(sorted, id)
	n := leastBeginning
	for _, other := range [...]int{at - 1, at + 1} {
		if other < 0 || other >= len(sorted) {
			continue
		}
		if sorted[other] == id {
			return id, false
		}
		same := 0
		for same < min(len(id), len(sorted[other])) && id[same] == sorted[other][same] {
			same++
		}
		n = max(n, same+1)
	}
	for n < len(id) && !utf8.RuneStart(id[n]) {
		n++
	}
	if n+4 >= len(id) {
		return id, true
	}
	return id[:n], true
}

// HasSession reports whether a session is selected by its agent, and by the time of its
// last frame.
func (s *Selection) HasSession(r *SessionRow) bool {
	c := r.Tape.Connection
	return s.HasAgent(r.Agent, r.agent(), c.Agent, c.AgentTitle) && s.HasTime(r.Updated())
}

// agent returns the name of a session's agent, as on its latest tape.
func (r *SessionRow) agent() string { return cmp.Or(tapetext.AgentName(r.Tape), r.Agent) }

// Outcome returns the session's outcome: running while its latest tape is being recorded,
// otherwise the worst of its turns.
func (r *SessionRow) Outcome() dialect.Outcome {
	if r.Tape.Live && !r.Closed {
		return dialect.Outcome{How: dialect.Running}
	}
	return r.Worst().Or(dialect.Outcome{How: dialect.Done})
}

// WriteSessions writes what distinguishes sessions, for a terminal of 80 columns or more.
// Where nothing is cut, it writes whole ids.
func WriteSessions(c cli.Canvas, rows []SessionRow, now time.Time) error {
	lines := make([]line, len(rows))
	for n, r := range rows {
		name := r.Short
		if c.Width == 0 {
			name = r.Name
		}
		_, _, turns := r.Total()
		lines[n] = line{
			sign: outcomeSign(r.Outcome()), name: termtext.Plain.Line(name), title: r.title(), agent: r.agentSpans(agentColumns(c)),
			turns: turns, failed: r.Failures(), costs: r.costs(), last: r.Updated(),
		}
	}
	if err := writeLines(c, "SESSION", lines, now); err != nil {
		return err
	}
	return writeMissing(c.W, rows)
}

// title returns the topic or, without one, the directory.
func (r *SessionRow) title() []termtext.Span {
	if topic := r.Topic(); topic != "" {
		return termtext.Plain.Line(topic)
	}
	return termtext.Dim.Line(r.Cwd)
}

func (r *SessionRow) agentSpans(columns int) []termtext.Span {
	if spans := tapetext.Agent(r.Tape, columns); termtext.SpansWidth(spans) > 0 {
		return spans
	}
	return termtext.Plain.Line(r.Agent)
}

func (r *SessionRow) costs() []dialect.Cost {
	if c := r.Cost(); c.Currency != "" {
		return []dialect.Cost{c}
	}
	return nil
}

// WriteSessionsWide writes all columns.
func WriteSessionsWide(c cli.Canvas, rows []SessionRow) error {
	t := &cli.Table{Color: c.Color}
	t.Heading(strings.Repeat(" ", signColumns)+"SESSION", "UPDATED", "STATE", "AGENT", "TITLE", "DIRECTORY", "TURNS", "FAILED", "COST", "FRAMES", "TAPES")
	text := termtext.Plain.Line
	for _, r := range rows {
		frames, _, turns := r.Total()
		t.Spans(append(outcomeSign(r.Outcome()), text(r.Name)...), text(tapetext.Time(r.Updated())), text(tapetext.OutcomeText(r.Outcome())), r.agentSpans(60), text(r.Topic()), termtext.Dim.Line(r.Cwd),
			text(fmt.Sprint(turns)), Failures(r.Failures(), false), text(tapetext.CostText(r.costs())), text(fmt.Sprint(frames)), text(fmt.Sprint(len(r.Runs))))
	}
	if err := t.Write(c.W, c.Width, 3, 4, 5); err != nil {
		return err
	}
	return writeMissing(c.W, rows)
}

// writeMissing lists the sessions that the agent itself last loaded without all of their
// tool calls.
func writeMissing(w io.Writer, rows []SessionRow) error {
	for _, r := range rows {
		n := r.Runs[len(r.Runs)-1].Missing
		if n == 0 {
			continue
		}
		_, err := fmt.Fprintf(w, "%s: the agent's own load left out %s; acptap proxy --sessions=mend shows what was recorded\n",
			termtext.Line(r.Name), termtext.Counted(int64(n), "tool call"))
		if err != nil {
			return err
		}
	}
	return nil
}
