package conform

import (
	"regexp"
	"strings"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

var mcpShapeRules = []Rule{
	{
		ID: "MCP001", Name: "mcp-shape",
		Clauses: append([]Clause{{For: modern, Strength: Violation, Source: mcp("2026-07-28", "Schema", "schema")}}, legacySchemas()...),
		Fault:   Sender, Needs: Pair,
		On: []On{{Kinds: Messages}},
		Text: Text{
			Asks:   "Params and results have the shape that the schema of the revision gives them.",
			Finds:  "A member that is required and missing, or a value of another type or of none of the values that are listed; with less strength, `null` where an empty object is due.",
			Spares: "Members that the schema does not know, and methods; a server that has not shown that it knows 2026-07-28; revisions that this program does not know. What a rule of its own is about, such as the schemas of tools and what each request has in its `_meta`.",
			Do:     "send what the schema asks for",
		},
		Check: mcpShape,
	},
}

// legacySchemas returns the clauses of the revisions that have a schema page; before,
// there is only the file that this page is made from.
func legacySchemas() []Clause {
	var clauses []Clause
	for _, revision := range legacyRevisions {
		c := Clause{For: legacy, Since: revision, Until: revision, Strength: Violation, Source: mcp(revision, "Schema", "schema")}
		if revision < "2025-06-18" {
			c.Source.URL = "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/" + revision + "/schema.json"
		}
		clauses = append(clauses, c)
	}
	return clauses
}

// mcpShape checks params as they come, those of initialize when that is answered: only
// then the dialect is known. A client that offers another revision than the server
// agrees on writes its params by the one that it offers.
func mcpShape(s *Step, r *Report) {
	switch {
	case s.From == Agent && s.is(wire.Response) && !s.followsRevision(), s.From == Agent && !s.serverKnowsRevision():
		return
	case s.Conn.Dialect == dialect.MCPModern && s.is(wire.Request) && !present(s.Param("_meta", metaVersion)): // request-meta says it
		return
	}
	set := schema.Of(s.Conn.Dialect, s.Conn.Version)
	if s.Kind() != wire.Response {
		if shape := shapeOfParams(set, s); shape != nil {
			checkShape(s, r, shape, s.Envelope.Params, "params", nil)
		}
		return
	}
	if call := s.Call; s.Method == "initialize" && s.From == Agent && call.Params != nil {
		offered := schema.Of(s.Conn.Dialect, text(get(call.Params, "protocolVersion")))
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

// checkShape reports what does not fit a shape. below says what the value is of its
// message; of is the older request that it is of, if that is not the step.
func checkShape(s *Step, r *Report, shape *schema.Shape, value []byte, below string, of *Call) {
	r.Tried()
	shape.Check(value, func(p schema.Problem) {
		if p.Kind == schema.UnknownKey || ownedByRule(s, below, p) {
			return
		}
		e := shapeEvidence(below, p)
		if of != nil {
			e.Of, e.Seq, e.By = of, of.Seq, of.From
		}
		r.Add(e)
	})
}

// shapeEvidence says what is wrong with the value at a path below params or result.
func shapeEvidence(below string, p schema.Problem) Evidence {
	e := Evidence{Path: p.Path, Want: p.Want, Got: p.Got}
	if p.Path == "" {
		e.Path = below
	}
	switch p.Kind {
	case schema.Missing:
		e.Text, e.Got = "left out a member that is required", ""
	case schema.Null:
		e.Text = "sent nothing where an object is due"
	case schema.WrongType:
		e.Text = "sent a value of another type"
	case schema.NotListed, schema.UnknownVariant:
		e.Text = "sent a value that is none of those listed"
	case schema.OutOfRange:
		e.Text = "sent a value beyond its limits"
	case schema.Forbidden:
		e.Text = "sent what must not be there"
	default:
		e.Text = "sent a value of no form that is known"
	}
	if p.Lenient || p.Kind == schema.Null {
		e.Strength = Warning
	}
	return e
}

var inputSchemaPath = regexp.MustCompile(`^tools\[\d+\]\.inputSchema`)

// ownedByRule reports whether another rule tells of a problem, or the documents of the
// revision do not agree on it: the text of 2025-11-25 and its schema in TypeScript have
// null as the ttl of a task that is kept for ever, the schema in JSON has not.
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
		return inputSchemaPath.MatchString(p.Path)
	}
	return false
}

// shapeOfParams returns what the params of a step have to be; nil if nobody says.
func shapeOfParams(set *schema.Set, s *Step) *schema.Shape {
	if set == nil {
		return nil
	}
	return set.Params(s.Method, s.is(wire.Request))
}
