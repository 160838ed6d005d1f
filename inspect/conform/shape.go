package conform

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
)

// A shaper checks messages against their connection's schema.
type shaper struct {
	chosen   bool
	shapes   *schema.Set // nil: none is known
	seq      uint64      // of the step that has the problems
	entry    int
	problems []schema.Problem
	add      func(schema.Problem) // appends to problems; made once
}

// problems returns where the params or result of a step do not fit the schema. All rules
// share the list, which is valid until the next step.
func (s *Step) problems() []schema.Problem {
	h := &s.Conn.shaper
	if h.seq == s.Frame.Seq && h.entry == s.Entry {
		return h.problems
	}
	h.seq, h.entry, h.problems = s.Frame.Seq, s.Entry, h.problems[:0]
	if !h.chosen {
		h.chosen, h.shapes = true, shapesOf(s)
		h.add = func(p schema.Problem) { h.problems = append(h.problems, p) }
	}
	if h.shapes == nil {
		return nil
	}
	shape, value := h.shapes.Params(s.Method, s.is(wire.Request)), s.Envelope.Params
	if s.is(wire.Response) {
		if !s.Succeeded() || s.Envelope.Result == nil {
			return nil
		}
		shape, value = h.shapes.Result(s.Method), s.Envelope.Result
	} else if len(value) > 0 && value[0] != '{' { // RPC007
		return nil
	}
	if shape != nil {
		shape.Check(value, h.add)
	}
	return h.problems
}

// shapesOf returns the shapes for a connection whose dialect is settled. The schema of
// the version 2 draft that still had session/load was never published.
func shapesOf(s *Step) *schema.Set {
	said := s.Conn.hello.agent
	if s.Method == "initialize" && s.is(wire.Response) {
		said = s.Envelope.Result
	}
	if s.Conn.Dialect == dialect.ACPv2 && wire.Present(wire.Get(said, "capabilities", "session", "load")) {
		return nil
	}
	return schema.Of(s.Conn.Dialect, s.Conn.Version)
}

// shapeRules judge messages by the published schemas.
var shapeRules = checks{
	{"ACP001", shapeOf},
	{"ACP002", unknownKey},
	{"ACP004", unknownVariant},
	{"ACP005", otherVersion},
}

func unknownKey(s *Step, r *Report) {
	r.Tried()
	for _, p := range s.problems() {
		if p.Kind != schema.UnknownKey || isOwned(s, p.Path) {
			continue
		}
		e := Evidence{Text: "added a key to " + p.Type + " that is unknown to the schema of " + Date, Path: p.Path, Got: p.Got}
		if p.Removed || p.Other || p.Unstable || isFormerLogin(s, p.Path) {
			e.Text, e.Strength = "added a key to "+p.Type+" that only a draft, a former or another schema has", Note
		}
		r.addUnlessProposed(e, s.Conn.Protocol, s.Method+"#"+p.Path)
	}
}

// isFormerLogin reports whether a path is in a login method of type env_var, which the
// unstable schema of version 1 had until 2026-07-27.
func isFormerLogin(s *Step, path string) bool {
	index, _, ok := strings.Cut(strings.TrimPrefix(path, "authMethods["), "]")
	return ok && wire.Text(s.Result("authMethods", index, "type")) == "env_var"
}

func unknownVariant(s *Step, r *Report) {
	r.Tried()
	if row, ok := dialect.LookupUpdate(s.Update); ok && !row.Proposed() || s.Update == "" || s.Conn.Dialect == dialect.ACPv2 && strings.HasPrefix(s.Update, "_") {
		return
	}
	e := Evidence{Text: "sent an update that is unknown to the schema of " + Date, Path: "update.sessionUpdate", Got: s.Update}
	r.addUnlessProposed(e, s.Conn.Protocol, s.Update)
}

func otherVersion(s *Step, r *Report) {
	row, ok := dialect.LookupUpdate(s.Update)
	if !ok || row.Proposed() {
		return
	}
	r.Tried()
	if !(row.Stable | row.Unstable).Has(s.Conn.Dialect) {
		r.Add(Evidence{Text: "sent " + s.Update + ", which this version does not have", Path: "update.sessionUpdate", Got: s.Update})
	}
}

func shapeOf(s *Step, r *Report) {
	r.Tried()
	for _, p := range s.problems() {
		if p.Kind == schema.UnknownKey || isOwned(s, p.Path) {
			continue
		}
		e := shapeEvidence(p)
		if p.Unstable || p.Kind == schema.Null && (s.Method == "session/load" || s.Method == "fs/write_text_file") {
			e.Strength = Note
		}
		r.Add(e)
	}
}

// shapeTexts say what is wrong with a value.
var shapeTexts = [...]string{
	schema.Missing:        "left a member out",
	schema.WrongType:      "sent a value of another shape",
	schema.Null:           "sent null for an object",
	schema.NotListed:      "sent a value that the schema does not list",
	schema.UnknownVariant: "sent a value that the schema does not list",
	schema.NoBranch:       "sent a value of another shape",
	schema.OutOfRange:     "sent a value beyond its limits",
	schema.Forbidden:      "sent what must not be there",
}

// shapeEvidence says what is wrong with a value according to its schema.
func shapeEvidence(p schema.Problem) Evidence {
	e := Evidence{Text: shapeTexts[p.Kind], Path: p.Path, Want: p.Want, Got: p.Got}
	if p.Type != "" {
		e.Text += " in " + p.Type
	}
	if p.Kind == schema.Missing {
		e.Got = ""
	}
	if p.Lenient || p.Kind == schema.Null {
		e.Strength = Warning
	}
	return e
}

// owned are the paths that other rules judge, each after its method.
var owned = [...]string{
	"initialize protocolVersion", "initialize info", "initialize capabilities", "initialize agentCapabilities",
	"session/new sessionId", "session/prompt stopReason", "session/update update.sessionUpdate", "session/set_config_option value",
}

// isOwned reports whether another rule judges the value at a path.
func isOwned(s *Step, path string) bool {
	if s.Method == "session/update" && path == "update" && s.Update != "" {
		row, ok := dialect.LookupUpdate(s.Update)
		return !ok || !(row.Stable | row.Unstable).Has(s.Conn.Dialect)
	}
	return slices.Contains(owned[:], s.Method+" "+path) || strings.HasPrefix(path, "mcpServers[") && strings.HasSuffix(path, ".type")
}

var mcpShapeRules = checks{
	{"MCP001", mcpShape},
}

// mcpShape checks params when they arrive, except those of initialize, which it checks at
// the answer, because only then is the dialect known. A client writes them according to
// the revision that it offers.
func mcpShape(s *Step, r *Report) {
	switch {
	case s.From == Agent && s.is(wire.Response) && !s.followsRevision(), s.From == Agent && !s.serverKnowsRevision():
		return
	case s.Conn.Dialect == dialect.MCPModern && s.is(wire.Request) && !wire.Present(s.Param("_meta", metaVersion)): // request-meta reports it
		return
	}
	set := schema.Of(s.Conn.Dialect, s.Conn.Version)
	if s.Kind() != wire.Response {
		if set == nil {
			return
		}
		if shape := set.Params(s.Method, s.is(wire.Request)); shape != nil {
			checkShape(s, r, shape, s.Envelope.Params, "params", nil)
		}
		return
	}
	if call := s.Call; s.Method == "initialize" && s.From == Agent && call.Params != nil {
		offered := schema.Of(s.Conn.Dialect, wire.Text(wire.Get(call.Params, "protocolVersion")))
		if offered != nil {
			checkShape(s, r, offered.Params(s.Method, true), call.Params, "params", call)
		}
	}
	if !s.Succeeded() || set == nil {
		return
	}
	shape := set.Result(s.Method)
	if task := set.TaskResult(s.Method); task != nil && s.Result("task") != nil {
		shape = task
	}
	if shape != nil {
		checkShape(s, r, shape, s.Envelope.Result, "result", nil)
	}
}

// checkShape reports what does not fit a shape. below is params or result; of is the
// older request that has the value, nil for the step itself.
func checkShape(s *Step, r *Report, shape *schema.Shape, value []byte, below string, of *Call) {
	r.Tried()
	shape.Check(value, func(p schema.Problem) {
		if p.Kind == schema.UnknownKey || ownedByRule(s, below, p) {
			return
		}
		e := shapeEvidence(p)
		e.Path = cmp.Or(e.Path, below)
		if of != nil {
			e.Of, e.Seq, e.By = of, of.Seq, of.From
		}
		r.Add(e)
	})
}

var inputSchemaPath = lazyregexp.New(`^tools\[\d+\]\.inputSchema`)

// ownedByRule reports whether another rule reports a problem, or the revision's documents
// disagree: in 2025-11-25 the text and the TypeScript schema allow null as a task's ttl,
// the JSON schema does not.
func ownedByRule(s *Step, below string, p schema.Problem) bool {
	isModern := s.Conn.Dialect == dialect.MCPModern
	switch {
	case p.Got == "null" && (p.Path == "ttl" || strings.HasSuffix(p.Path, ".ttl")):
		return true
	case below == "params" && p.Path == "" && p.Got != "nothing": // RPC007
		return true
	case below == "params" && isModern: // MCP115
		return p.Path == "" || strings.HasPrefix(p.Path, "_meta") && p.Kind == schema.Missing
	case below == "params": // SEP-1364 moves it to session/create
		return s.Method == "initialize" && p.Path == "capabilities" && s.Conn.Proposal == dialect.SEP1364A1
	case isModern && p.Path == "resultType": // MCP116
		return true
	case s.Method == "tools/list": // MCP202
		return inputSchemaPath().MatchString(p.Path)
	}
	return false
}
