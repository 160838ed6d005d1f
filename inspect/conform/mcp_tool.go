package conform

import (
	"bytes"
	"hash/maphash"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Bounds of what is remembered of lists.
const (
	maxMCPTools   = 1 << 12
	maxSchema     = 64 << 10 // bytes of one tool's outputSchema
	allSchemas    = 1 << 20  // bytes of all
	maxMCPCursors = 1 << 14
)

// mcpLists are what is known of what the server lists.
type mcpLists struct {
	tools   bounded.Map[mcpToolKey, *mcpTool]
	schemas int // bytes kept with tools

	cursors bounded.Map[uint64, struct{}] // that the server gave, as hashes
	seed    maphash.Seed
	forgot  bool // some are not known, or not any more
}

// A mcpToolKey names a tool: with a session proposal, each session may have its own.
type mcpToolKey struct{ session, name string }

// A mcpTool is a tool that was listed with an outputSchema.
type mcpTool struct {
	listed uint64 // Seq of the answer
	schema []byte // nil: too long, or there are two tools of the name
	shape  *schema.Shape
	read   bool // schema was compiled, or cannot be
}

// lists are the requests that the server answers page by page.
var lists = []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list"}

func (l *mcpLists) observe(s *Step) {
	switch {
	case s.Method == "notifications/tools/list_changed":
		l.forgetTools()
	case s.Call == nil || s.From != Agent || !slices.Contains(lists, s.Method):
	case s.Kind() == wire.Oversized:
		l.forgot = true
		l.forgetTools()
	case s.Succeeded():
		if cursor := s.Result("nextCursor"); isString(cursor) {
			l.cursors.Limit = maxMCPCursors
			_, full := l.cursors.Set(l.hash(cursor), struct{}{})
			l.forgot = l.forgot || full
		}
		if s.Method == "tools/list" {
			l.list(s)
		}
	}
}

func (l *mcpLists) hash(cursor []byte) uint64 {
	if l.seed == (maphash.Seed{}) {
		l.seed = maphash.MakeSeed()
	}
	text, _ := wire.Unquote(cursor)
	return maphash.Bytes(l.seed, text)
}

// list takes the tools of an answer.
func (l *mcpLists) list(s *Step) {
	for _, t := range toolsOf(s) {
		name, out := wire.Text(wire.Get(t, "name")), wire.Get(t, "outputSchema")
		key := mcpToolKey{s.sessionID(), name}
		if old, _ := l.tools.Get(key); old != nil {
			l.forget(old)
			l.tools.Drop(key)
			if old.listed == s.Frame.Seq { // the second of its name in one list
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

// forgetTools forgets all tools, which may be others now.
func (l *mcpLists) forgetTools() {
	l.tools.Clear()
	l.schemas = 0
}

func (l *mcpLists) forget(tool *mcpTool) { l.schemas -= len(tool.schema) }

// toolsOf returns the tools in the answer to tools/list, as JSON.
func toolsOf(s *Step) [][]byte {
	var all [][]byte
	for _, t := range wire.Elements(s.Result("tools")) {
		all = append(all, t)
	}
	return all
}

// output returns what the structured result of the tool has to be; nil if nobody can
// tell.
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

var toolNameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`) })

// toolPath returns the path of a member of a tool in the answer to tools/list.
func toolPath(i int, member string) string {
	return dialect.MemberPath(dialect.ElementPath("tools", i), member)
}

// more says how many others are of the same kind.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return " (and " + strconv.Itoa(n) + " more)"
}

func toolName(s *Step, r *Report) {
	if !s.Succeeded() {
		return
	}
	r.Tried()
	seen := map[string]bool{}
	var e Evidence
	found := 0
	for i, t := range toolsOf(s) {
		raw := wire.Get(t, "name")
		name := wire.Text(raw)
		twice := seen[name]
		seen[name] = true
		if !isString(raw) || !twice && toolNameForm().MatchString(name) {
			continue
		}
		if found++; found > 1 {
			continue
		}
		e = Evidence{Text: "gave a tool a name of another form", Path: toolPath(i, "name"), Want: "[A-Za-z0-9_.-]{1,128}", Got: string(raw)}
		if twice {
			e.Text, e.Want = "gave two tools one name", ""
		}
	}
	if found > 0 {
		e.Text += more(found - 1)
		r.Add(e)
	}
}

func inputSchema(s *Step, r *Report) {
	if !s.Succeeded() {
		return
	}
	r.Tried()
	var e Evidence
	found := 0
	for i, t := range toolsOf(s) {
		in := wire.Get(t, "inputSchema")
		if wire.Text(wire.Get(in, "type")) == "object" {
			continue
		}
		if found++; found == 1 {
			e = Evidence{Text: "listed the tool " + cut(wire.Text(wire.Get(t, "name"))) + " without a schema of its arguments", Path: toolPath(i, "inputSchema"), Want: `{"type":"object"}`, Got: string(in)}
		}
	}
	if found > 0 {
		e.Text += more(found - 1)
		r.Add(e)
	}
}

func structuredResult(s *Step, r *Report) {
	kind := wire.Text(s.Result("resultType"))
	if s.Call == nil || !s.Succeeded() || string(s.Result("isError")) == "true" || s.Result("task") != nil || kind != "" && kind != "complete" {
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
	if shape == nil || s.isLegacy() && value[0] != '{' { // mcp-shape says it
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
	l := &s.Conn.mcp.lists
	if wire.Text(cursor) == "" || l.forgot || s.sessionID() != "" && s.Session == nil {
		return
	}
	r.Tried()
	if _, given := l.cursors.Get(l.hash(cursor)); !given {
		r.Add(Evidence{Text: "sent a cursor that no answer had brought", Path: "cursor", Got: string(cursor)})
	}
}
