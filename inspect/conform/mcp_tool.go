package conform

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
)

// Limits on what is remembered about lists.
const (
	maxMCPTools   = 1 << 12
	maxSchema     = 64 << 10 // bytes of one tool's outputSchema
	allSchemas    = 1 << 20  // total bytes
	maxMCPCursors = 1 << 14
)

// mcpLists holds what is known about the server's lists.
type mcpLists struct {
	tools   bounded.Map[mcpToolKey, *mcpTool]
	schemas int // bytes of schemas kept in tools

	cursors hashes // that the server gave
}

// A mcpToolKey names a tool: with a session proposal, each session may have its own
// tools.
type mcpToolKey struct{ session, name string }

// A mcpTool is a listed tool that has an outputSchema.
type mcpTool struct {
	listed uint64 // Seq of the answer
	schema []byte // nil: too long, or two tools have the name
	shape  *schema.Shape
	read   bool // compiling schema was attempted
}

// lists are the requests that the server answers page by page.
var lists = []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list"}

func (l *mcpLists) observe(s *Step) {
	switch {
	case s.Method == "notifications/tools/list_changed":
		l.forgetTools()
	case s.Call == nil || s.From != Agent || !slices.Contains(lists, s.Method):
	case s.Kind() == wire.Oversized:
		l.cursors.forgot = true
		l.forgetTools()
	case s.Succeeded():
		if cursor := s.Result("nextCursor"); isString(cursor) {
			l.cursors.add(maxMCPCursors, wire.Text(cursor))
		}
		if s.Method == "tools/list" {
			l.list(s)
		}
	}
}

// list records the tools in an answer.
func (l *mcpLists) list(s *Step) {
	for _, t := range wire.Elements(s.Result("tools")) {
		name, out := wire.Text(wire.Get(t, "name")), wire.Get(t, "outputSchema")
		key := mcpToolKey{s.sessionID(), name}
		if old, _ := l.tools.Get(key); old != nil {
			l.forget(old)
			l.tools.Drop(key)
			if old.listed == s.Frame.Seq { // the second tool with this name in one list
				l.keep(key, &mcpTool{listed: s.Frame.Seq})
				continue
			}
		}
		if !wire.Present(out) || len(name) > maxToken {
			continue
		}
		tool := &mcpTool{listed: s.Frame.Seq}
		if len(out) <= maxSchema && l.schemas+len(out) <= allSchemas {
			tool.schema = bytes.Clone(out)
			l.schemas += len(out)
		}
		l.keep(key, tool)
	}
}

func (l *mcpLists) keep(key mcpToolKey, tool *mcpTool) {
	l.tools.Limit = maxMCPTools
	if gone, full := l.tools.Set(key, tool); full {
		l.forget(gone)
	}
}

// forgetTools forgets all tools, because they may have changed.
func (l *mcpLists) forgetTools() {
	l.tools.Clear()
	l.schemas = 0
}

func (l *mcpLists) forget(tool *mcpTool) { l.schemas -= len(tool.schema) }

// output returns the shape of the tool's structured result; nil if its schema is
// unusable.
func (t *mcpTool) output() *schema.Shape {
	if !t.read {
		t.read = true
		t.shape, _ = schema.Compile(t.schema)
	}
	return t.shape
}

var mcpToolRules = checks{
	{"MCP201", toolName},
	{"MCP202", inputSchema},
	{"MCP203", structuredResult},
	{"MCP204", mcpMadeUpCursor},
}

var toolNameForm = lazyregexp.New(`^[A-Za-z0-9_.-]{1,128}$`)

// addFirst adds the first of several breaches at one step, with the number of others.
func (r *Report) addFirst(found []Evidence) {
	r.Tried()
	if len(found) == 0 {
		return
	}
	if more := len(found) - 1; more > 0 {
		found[0].Text += " (and " + strconv.Itoa(more) + " more)"
	}
	r.Add(found[0])
}

func toolName(s *Step, r *Report) {
	seen := map[string]bool{}
	var found []Evidence
	for i, t := range wire.Elements(s.Result("tools")) {
		raw := wire.Get(t, "name")
		name := wire.Text(raw)
		e := Evidence{Text: "gave a tool a name of another form", Path: dialect.ElementPath("tools", i) + ".name", Want: "[A-Za-z0-9_.-]{1,128}", Got: string(raw)}
		switch {
		case isString(raw) && seen[name]:
			e.Text, e.Want = "gave two tools one name", ""
		case isString(raw) && toolNameForm().MatchString(name):
			seen[name] = true
			continue
		}
		seen[name] = true
		found = append(found, e)
	}
	r.addFirst(found)
}

func inputSchema(s *Step, r *Report) {
	var found []Evidence
	for i, t := range wire.Elements(s.Result("tools")) {
		if in := wire.Get(t, "inputSchema"); wire.Text(wire.Get(in, "type")) != "object" {
			found = append(found, Evidence{
				Text: "listed the tool " + cut(wire.Text(wire.Get(t, "name"))) + " without a schema of its arguments",
				Path: dialect.ElementPath("tools", i) + ".inputSchema", Want: `{"type":"object"}`, Got: string(in),
			})
		}
	}
	r.addFirst(found)
}

func structuredResult(s *Step, r *Report) {
	kind := wire.Text(s.Result("resultType"))
	if string(s.Result("isError")) == "true" || s.Result("task") != nil || kind != "" && kind != "complete" {
		return
	}
	name := wire.Text(wire.Get(s.Call.Params, "name"))
	tool, _ := s.Conn.mcp.lists.tools.Get(mcpToolKey{s.Call.Session, name})
	if name == "" || tool == nil || tool.schema == nil || tool.listed > s.Call.Seq {
		return
	}
	r.Tried()
	e := Evidence{Path: "structuredContent", Because: []uint64{tool.listed, s.Call.Seq}}
	value := s.Result("structuredContent")
	if value == nil {
		e.Text, e.Want = "returned no structuredContent from "+cut(name)+", whose outputSchema asks for it (frame "+number(tool.listed)+")", "a value that fits the outputSchema"
		r.Add(e)
		return
	}
	shape := tool.output()
	if shape == nil || s.isLegacy() && value[0] != '{' { // mcp-shape reports it
		return
	}
	shape.Check(value, func(p schema.Problem) {
		if e.Text != "" || p.Kind == schema.UnknownKey {
			return
		}
		e.Text = "returned a structuredContent from " + cut(name) + " that does not fit its outputSchema (frame " + number(tool.listed) + ")"
		if p.Path != "" {
			e.Path += "." + p.Path
		}
		e.Want, e.Got = p.Want, p.Got
	})
	if e.Text != "" {
		r.Add(e)
	}
}

func mcpMadeUpCursor(s *Step, r *Report) {
	cursor := s.Param("cursor")
	given := &s.Conn.mcp.lists.cursors
	if wire.Text(cursor) == "" || given.forgot || s.sessionID() != "" && s.Session == nil {
		return
	}
	r.Judge(!given.has(wire.Text(cursor)), Evidence{Text: "sent a cursor that no answer had brought", Path: "cursor", Got: string(cursor)})
}
