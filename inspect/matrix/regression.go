package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// A Comparison lists how two versions of a peer differ where both could be observed.
type Comparison struct {
	Before      string   `json:"before"` // NAME@VERSION
	After       string   `json:"after"`
	Worse       []Change `json:"worse"`       // in the order of their kinds
	Other       []Change `json:"other"`       // better, or only new
	NotCompared []string `json:"notCompared"` // what only one of the two could show, in words

	before, after *Peer
}

// A Change is one thing that differs.
type Change struct {
	Kind string `json:"kind"` // capability, case, rule, stop, error, time
	What string `json:"what"` // the capability, case, rule, stop reason or error code, or what took the time
	From string `json:"from"`
	To   string `json:"to"`
	At   *Where `json:"at,omitempty"` // frame that shows it
}

// Compare compares two versions of a peer of one protocol.
func Compare(side dialect.Side, before, after *Peer) *Comparison {
	c := &Comparison{
		Before: before.ID(), After: after.ID(), before: before, after: after,
		Worse: []Change{}, Other: []Change{}, NotCompared: []string{},
	}
	for _, col := range columns() {
		if col.side == side && col.protocol == before.Protocol {
			c.capability(col.name)
		}
	}
	c.caseChanges()
	c.rules()
	c.kinds("stop", before.Stops, after.Stops)
	c.kinds("error", before.Errors, after.Errors)
	c.time("first output", &before.Turns.Output.Took, &after.Turns.Output.Took)
	c.time(dialect.NewSession, &before.Setup, &after.Setup)
	c.time("turn", &before.Turns.Took, &after.Turns.Took)
	return c
}

func (c *Comparison) capability(name string) {
	a, b := c.before.Cell(name), c.after.Cell(name)
	from, to := a.Mark(), b.Mark()
	change := Change{"capability", name, from.String(), to.String(), b.First}
	switch {
	case from == to:
	case from == NotSeen, to == NotSeen:
		if a.Connections+b.Connections > 0 {
			c.skip(name)
		}
	case to == NotOffered && b.Connections == 0, from == NotOffered && a.Connections == 0:
		c.skip(name)
	case from != NotOffered && from != Unoffered && to == NotOffered,
		from == Works && (to == Broken || to == Unoffered || to == Hurting),
		to == Broken && a.Worked+a.Failed+a.Missing+a.Findings+a.Hangs+a.Hurts > 0,
		to == Unoffered:
		c.Worse = append(c.Worse, change)
	case to == Unused || from == Unused:
		c.skip(name + " (used by one of them only)")
	default:
		c.Other = append(c.Other, change)
	}
}

func (c *Comparison) skip(what string) { c.NotCompared = append(c.NotCompared, what) }

func (c *Comparison) rules() {
	for _, id := range slices.Sorted(maps.Keys(c.after.Findings)) {
		switch {
		case c.before.Findings[id] > 0:
		case !c.before.Tried[id]:
			c.skip(id + " (no occasion before)")
		default:
			c.Worse = append(c.Worse, Change{Kind: "rule", What: id, From: "kept", To: "broken " + termtext.Times(c.after.Findings[id])})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.before.Findings)) {
		if c.after.Findings[id] == 0 && c.after.Tried[id] {
			c.Other = append(c.Other, Change{Kind: "rule", What: id, From: "broken", To: "kept"})
		}
	}
}

// kinds adds new stop reasons or error codes.
func (c *Comparison) kinds(kind string, before, after map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] > 0 {
			continue
		}
		change := Change{Kind: kind, What: termtext.Brief(name, 40), From: "never", To: termtext.Times(after[name])}
		if kind == "stop" && (name == "end_turn" || name == "cancelled") {
			c.Other = append(c.Other, change) // not worse: the client asked to cancel
			continue
		}
		c.Worse = append(c.Worse, change)
	}
}

func (c *Comparison) time(what string, before, after *stats.Series) {
	from, to, yes, ok := doubled(before, after)
	switch {
	case !ok && before.Count()+after.Count() > 0:
		c.skip(fmt.Sprintf("the time of %s (%d and %d samples; %d are needed)", what, before.Count(), after.Count(), Enough))
	case yes:
		c.Worse = append(c.Worse, Change{Kind: "time", What: what, From: "p50 " + termtext.Duration(from), To: "p50 " + termtext.Duration(to)})
	}
}

// Find returns the newest version of the peer named by NAME or NAME@VERSION; the version
// may be a prefix. The error lists the peers.
func (m *Matrix) Find(ref string) (*Peer, error) {
	name, version, _ := strings.Cut(ref, "@")
	var known []string
	for _, p := range m.Peers() { // newest first
		if p.Name == name && (version == "" || p.Version == version || strings.HasPrefix(p.Version, version)) {
			return p, nil
		}
		known = append(known, p.ID())
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("no tape says who its %s is", sideName(m.Side))
	}
	return nil, fmt.Errorf("no %s %s on these tapes; there are %s", sideName(m.Side), termtext.Line(ref), termtext.Brief(strings.Join(known, ", "), 400))
}

// Only returns a tape's only peer. tape is the user's name for the tape.
func (m *Matrix) Only(tape string) (*Peer, error) {
	switch all := m.Peers(); len(all) {
	case 1:
		return all[0], nil
	case 0:
		return nil, fmt.Errorf("nobody says on %s what it offers", termtext.Line(tape))
	default:
		return nil, fmt.Errorf("on %s there are several: %s and %s; name one by NAME@VERSION", termtext.Line(tape), all[0].ID(), all[1].ID())
	}
}

func sideName(s dialect.Side) string {
	if s == dialect.ClientSide {
		return "client"
	}
	return "agent"
}
