package conform

import (
	"iter"
	"slices"
	"sync"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// checks are the functions of one subject's rules, by the ids of their texts.
type checks []struct {
	id    string
	check func(*Step, *Report)
}

// subjects are all checks, in the order in which they judge a step.
var subjects = [...]checks{
	transportRules,
	rpcRules,
	shapeRules,
	helloRules,
	gateRules,
	setupRules,
	serverRules,
	loadRules,
	turnRules,
	messageRules,
	toolRules,
	pathRules,
	permissionRules,
	cancelRules,
	hangRules,
	twoPromptRules,
	usageRules,
	twoRules,
	serviceRules,
	configRules,
	loginRules,
	mcpShapeRules,
	mcpRules,
	mcpRequestRules,
	mcpToolRules,
	mcpSessionRules,
	mcpDataLayerRules,
	httpClientRules,
	httpServerRules,
}

// rules are all rules, read on first use.
var rules = sync.OnceValue(func() (all []*Rule) {
	texts, err := readRules()
	if err != nil {
		panic("conform: " + err.Error())
	}
	for _, subject := range subjects {
		for _, c := range subject {
			r := texts[c.id]
			if r == nil {
				panic("conform: no file in rules is of " + c.id)
			}
			r.Check = c.check
			all = append(all, r)
		}
	}
	return all
})

// Rules returns all rules, by subject. Callers must not modify them.
func Rules() []*Rule { return slices.Clone(rules()) }

// Lookup returns the rule with the given id, or nil if there is none.
func Lookup(id string) *Rule {
	i := slices.IndexFunc(rules(), func(r *Rule) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return rules()[i]
}

// An active rule is one that applies to a connection.
type active struct {
	rule    *Rule
	index   int // in the Checker's rules
	clause  *Clause
	results bool // of all responses it looks only at results
}

// A table holds the active rules by the steps that they look at.
type table struct {
	any  slots
	name map[string]*slots
	last []*active // those that look at the end

	exchanges []*active // those that look at exchanges over HTTP
}

// slots holds rules by a frame's sender and kind.
type slots [2][wire.Mark][]*active

// tables has a table for each kind of connection seen so far.
type tables map[tableKey]*table

type tableKey struct {
	dialect  dialect.Dialect
	protocol dialect.Protocol
	proposal dialect.Proposal
	version  string
	settled  bool
	hybrid   bool
}

// maxTables limits them, because peers choose the versions.
const maxTables = 64

func (t tables) of(rules []*Rule, c *dialect.Connection, settled bool) *table {
	key := tableKey{c.Dialect, c.Protocol, c.Proposal, c.Version, settled, c.Hybrid}
	if t[key] == nil {
		if len(t) == maxTables {
			clear(t)
		}
		t[key] = newTable(rules, c, settled)
	}
	return t[key]
}

func newTable(rules []*Rule, c *dialect.Connection, settled bool) *table {
	t := &table{name: make(map[string]*slots)}
	for i, r := range rules {
		for k := range r.Clauses {
			if r.Clauses[k].fits(r, c, settled) {
				t.add(&active{rule: r, index: i, clause: &r.Clauses[k]})
				break
			}
		}
	}
	return t
}

func (t *table) add(a *active) {
	on := a.rule.On
	if len(on) == 0 {
		on = []On{{}}
	}
	for _, o := range on {
		if o.Kinds == 0 {
			o.Kinds = Lines
		}
		a.results = a.results || o.Kinds&Results == Results
		if o.Kinds&Ends != 0 {
			t.last = append(t.last, a)
		}
		if o.Kinds&Exchanges != 0 {
			t.exchanges = append(t.exchanges, a)
		}
		s := &t.any
		if o.Name != "" {
			if s = t.name[o.Name]; s == nil {
				s = new(slots)
				t.name[o.Name] = s
			}
		}
		s.add(o, a)
	}
}

func (s *slots) add(o On, a *active) {
	for dir := range s {
		if o.From == dialect.ClientSide && dir != int(wire.ClientToAgent) || o.From == dialect.AgentSide && dir != int(wire.AgentToClient) {
			continue
		}
		for kind := range s[dir] {
			if o.Kinds>>kind&1 == 1 && !slices.Contains(s[dir][kind], a) {
				s[dir][kind] = append(s[dir][kind], a)
			}
		}
	}
}

// wanting yields the rules that look at a step.
func (t *table) wanting(s *Step, kind wire.Kind) iter.Seq[[]*active] {
	return func(yield func([]*active) bool) {
		dir := s.Frame.Dir
		if !yield(t.any[dir][kind]) {
			return
		}
		if by := t.name[s.Method]; by != nil && !yield(by[dir][kind]) {
			return
		}
		if s.Update == "" {
			return
		}
		if by := t.name[s.Update]; by != nil {
			yield(by[dir][kind])
		}
	}
}
