package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// A By says what the rows of a table are about.
type By string

// What rows can be about. The zero value is none of these: the tables then cover all
// tapes.
const (
	ByAgent   By = "agent"   // as it calls itself
	ByVersion By = "version" // of an agent
	ByMethod  By = "method"
	ByTool    By = "tool"
	ByServer  By = "server" // and tool
	BySession By = "session"
	ByTurn    By = "turn"
)

// Bys lists all of them.
var Bys = [...]By{ByAgent, ByVersion, ByMethod, ByTool, ByServer, BySession, ByTurn}

// ParseBy returns the By with a name.
func ParseBy(word string) (By, error) {
	if by := By(word); slices.Contains(Bys[:], by) {
		return by, nil
	}
	return "", fmt.Errorf("%q is none of agent, version, method, tool, server, session and turn", word)
}

// A who is the agent of a tape.
type who struct {
	agent, version string
	protocol       dialect.Protocol
	tape           string // id
}

// A group is what is counted for an agent, one of its versions, or a session.
type group struct {
	Turns
	agent, version string
	session        string // its id, or the tape if there is none
	title          string
	name           string // others, if the group holds everything beyond maxGroups
}

// groups holds all groups of a kind, and the turns if they are listed individually.
type groups struct {
	list   []*group
	byKey  map[[2]string]*group
	turns  []oneTurn
	beyond Turns // unlisted turns
}

const (
	maxGroups = 1 << 12
	maxTurns  = 1 << 14 // listed turns
)

// of returns the group with a key. If there is none, it adds first.
func (g *groups) of(key [2]string, first group) *group {
	if one := g.byKey[key]; one != nil {
		return one
	}
	if len(g.list) >= maxGroups {
		key, first = [2]string{others, others}, group{name: others}
		if one := g.byKey[key]; one != nil {
			return one
		}
	}
	if g.byKey == nil {
		g.byKey = map[[2]string]*group{}
	}
	one := &first
	g.list = append(g.list, one)
	g.byKey[key] = one
	return one
}

// ofTurn returns the group that a turn is counted in, or nil.
func (g *groups) ofTurn(by By, w who, s *trace.Session) *group {
	switch by {
	case ByAgent:
		return g.of([2]string{w.agent}, group{agent: w.agent})
	case ByVersion:
		return g.of([2]string{w.agent, w.version}, group{agent: w.agent, version: w.version})
	case BySession:
		one := g.of([2]string{w.agent, s.ID}, group{agent: w.agent, version: w.version, session: strings.Clone(s.ID)})
		one.title = s.Title
		return one
	}
	return nil
}

// ofCall returns the group that a client's call is counted in, or nil. In protocols
// without sessions, each tape counts as one.
func (g *groups) ofCall(by By, w who, s *trace.Session) *group {
	if by == BySession && s == nil {
		if w.protocol == dialect.ACP {
			return nil
		}
		return g.of([2]string{w.agent, "\x00" + w.tape}, group{agent: w.agent, version: w.version, session: tapetext.ShortID(w.tape)})
	}
	return g.ofTurn(by, w, s)
}

// A oneTurn is a listed turn.
type oneTurn struct {
	who
	trace.TurnEnd
	session, title string
	sum            *trace.TokenSum // of its session
}

// addTurn lists a turn, or counts it as beyond.
func (g *groups) addTurn(w who, t *trace.TurnEnd, sum *trace.TokenSum) {
	if len(g.turns) < maxTurns {
		one := oneTurn{w, *t, strings.Clone(t.Session.ID), cmp.Or(t.Title, t.Session.Title), sum}
		one.Session = nil // do not keep it
		g.turns = append(g.turns, one)
		return
	}
	g.beyond.Add(t)
	g.beyond.Usage.Tokens = g.beyond.Usage.Tokens.Plus(t.Usage.Tokens)
}

// sorted returns the groups that are not empty, ordered by number of turns, then number
// of calls, then time taken, largest first.
func (g *groups) sorted() []*group {
	list := slices.DeleteFunc(slices.Clone(g.list), func(one *group) bool { return one.Total()+one.Calls.Total() == 0 })
	slices.SortStableFunc(list, func(a, b *group) int {
		x, y := a.timing(), b.timing()
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(y.Total(), x.Total()), cmp.Compare(y.Took.sum, x.Took.sum),
			cmp.Compare(a.agent, b.agent), cmp.Compare(a.version, b.version), cmp.Compare(a.session, b.session))
	})
	return list
}

// timing returns what took time: the turns, or the client's calls if there are no turns.
func (g *group) timing() *Timing {
	if g.Total() > 0 {
		return &g.Timing
	}
	return &g.Calls
}
