// Package tapetext puts tapes into words: how a tape ended, how old it is, and what it and
// its agent are called. A name never contains an argument of the agent or the value of a
// variable, since these may be secret.
package tapetext

import (
	"cmp"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// State returns the outcome of a tape, such as `agent died exit 1` or `running`.
func State(i record.Info) string {
	if i.Partial && !i.Live {
		return "not yet compressed"
	}
	return OutcomeText(i.Outcome())
}

// OutcomeText returns an outcome, clean and in a line.
func OutcomeText(o dialect.Outcome) string { return termtext.Brief(o.String(), 60) }

// ShortID returns the random part of a tape's ID, by which people name it.
func ShortID(tape string) string { return tape[strings.LastIndexByte(tape, '-')+1:] }

// AgentName returns the name of a tape's agent: the name that the user gave, the agent's
// own, or that of the program in the command line or of the URL. It is not clean.
func AgentName(i record.Info) string {
	c := i.Connection
	return cmp.Or(i.Start.Name, termtext.Spaced(titled(c.AgentTitle, c.Agent), c.AgentVersion), program(i.Start.Command), i.Start.Upstream)
}

// Place returns the directory in which a tape's agent ran, or the URL of its server, which
// begins with ws for a WebSocket. It is not clean.
func Place(i record.Info) string {
	if rest, ok := strings.CutPrefix(i.Start.Upstream, "http"); ok && i.Start.Transport == "ws" {
		return "ws" + rest
	}
	return cmp.Or(i.Start.Upstream, i.Start.Cwd)
}

// titled joins a title and a name, if both are given and differ.
func titled(title, name string) string {
	if title == "" || name == "" || strings.EqualFold(title, name) {
		return cmp.Or(title, name)
	}
	return title + " (" + name + ")"
}

// Tags returns tags for lists, such as #slow #bug-7, empty if there are none. They are not
// clean.
func Tags(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return "#" + strings.Join(tags, " #")
}
