// Package tapetext describes tapes: how one ended, how old it is, and what it and its
// agent are called. A name never contains an agent's argument or a variable's value,
// since these may be secret.
package tapetext

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// State returns a tape's outcome, such as `agent died exit 1` or `running`.
func State(i record.Info) string {
	if i.Partial && !i.Live {
		return "not yet compressed"
	}
	return OutcomeText(i.Outcome())
}

// OutcomeText returns an outcome as clean text in one line.
func OutcomeText(o dialect.Outcome) string { return termtext.Brief(o.String(), 60) }

// OutcomeSpan returns an outcome after its sign, such as `✗ Overloaded (-32603)`.
func OutcomeSpan(o dialect.Outcome) termtext.Span {
	return OutcomeStyle(o.How).Span(o.How.Sign() + " " + termtext.Brief(o.Brief(), 60))
}

// OutcomeStyle returns the style for outcomes of a kind.
func OutcomeStyle(how dialect.How) termtext.Style {
	switch {
	case how.IsBad():
		return termtext.Failure
	case how == dialect.Cancelled:
		return termtext.Slow
	}
	return termtext.Good
}

// ResultStyle returns the style for what came of something: only what went wrong is coloured.
func ResultStyle(how dialect.How) termtext.Style {
	if how.IsBad() {
		return termtext.Failure
	}
	return termtext.Plain
}

// ShortID returns the random part of a tape's ID, which people use to name it.
func ShortID(tape string) string { return tape[strings.LastIndexByte(tape, '-')+1:] }

// AgentName returns the name of a tape's agent: the one that the user gave, the agent's
// own, or that of the program in the command line or URL. It is not clean.
func AgentName(i record.Info) string {
	c, name := i.Connection, i.Start.Name
	if run, _ := record.ProbeOf(i.Start); run != "" {
		name = "" // it names the run and its case
	}
	return cmp.Or(name, termtext.Spaced(cmp.Or(c.AgentTitle, c.Agent), c.AgentVersion), program(i.Start.Command), i.Start.Upstream)
}

// Place returns the directory in which a tape's agent ran, or its server's URL, which
// begins with ws for a WebSocket. It is not clean.
func Place(i record.Info) string {
	if rest, ok := strings.CutPrefix(i.Start.Upstream, "http"); ok && i.Start.Transport == "ws" {
		return "ws" + rest
	}
	return cmp.Or(i.Start.Upstream, i.Start.Cwd)
}

// Peer returns what a side calls itself, such as Claude Agent 0.100.0, in at most that many
// columns. If that is too long, the name is cut and the version stays. It is clean.
func Peer(title, name, version string, columns int) string {
	name, version = termtext.Piece(cmp.Or(title, name)), termtext.Piece(version)
	return termtext.Spaced(termtext.Cut(name, max(columns-termtext.Width(version)-1, 8)), termtext.Cut(version, max(columns-8, 8)))
}

// Agent returns what to call a tape's agent in a list, in about that many columns: what it
// calls itself or, if the user gave it another name, that name and, as far as it fits, what
// it calls itself. The version is always there.
func Agent(i record.Info, columns int) []termtext.Span {
	c := i.Connection
	names := []string{c.AgentTitle, unscoped(c.Agent), c.Agent}
	own := Peer(names[0], names[1], c.AgentVersion, columns)
	given := termtext.Piece(i.Start.Name)
	switch {
	case own == "":
		return termtext.Plain.Line(termtext.Cut(termtext.Piece(AgentName(i)), columns))
	case given == "" || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, given) }):
		return termtext.Plain.Line(own)
	case termtext.Width(given)+termtext.Width(own)+3 <= columns:
		return []termtext.Span{termtext.Plain.Span(given), termtext.Dim.Span(" · " + own)}
	}
	return termtext.Plain.Line(Peer("", given, c.AgentVersion, columns))
}

// unscoped returns the name of a package without its scope.
func unscoped(name string) string {
	if scope, rest, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(scope, "@") {
		return rest
	}
	return name
}

// Tags returns tags for lists, such as #slow #bug-7, or the empty string if there are
// none. They are not clean.
func Tags(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return "#" + strings.Join(tags, " #")
}

// Time returns a time in the local zone, for lists.
func Time(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Age formats an age in at most four columns, such as 45s, 3h or 12d. It is negative, such
// as -3d, if a clock was set back.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d <= -time.Minute:
		return "-" + Age(-d)
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 1000*day:
		return fmt.Sprintf("%dd", d/day)
	}
	return fmt.Sprintf("%dy", d/(365*day))
}

// TookText returns how long something took, in at most six columns below ten hours, or
// nothing if that is not known.
func TookText(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d >= time.Hour:
		return strings.TrimSuffix(d.Truncate(time.Minute).String(), "0s")
	}
	return termtext.Duration(d)
}

// CostText returns what something has cost, or nothing if that is not known.
func CostText(costs []dialect.Cost) string {
	texts := make([]string, len(costs))
	for i, c := range costs {
		texts[i] = termtext.Amount(c.Amount) + " " + termtext.Brief(c.Currency, maxCurrency)
	}
	return strings.Join(texts, " + ")
}

// maxCurrency is enough for the codes of ISO 4217 and for words such as credits.
const maxCurrency = 8
