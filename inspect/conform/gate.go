package conform

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// gateRules judge what needs a capability of the other side.
var gateRules = checks{
	{"ACP121", methodGate},
	{"ACP122", methodGate},
	{"ACP123", methodGate},
	{"ACP124", methodGate},
	{"ACP125", methodGate},
	{"ACP127", directoriesGate},
	{"ACP128", transportGate},
	{"ACP129", contentGate},
	{"ACP134", elicitationGate},
	{"ACP135", methodGate},
	{"ACP501", methodGate},
	{"ACP521", methodGate},
}

func elicitationGate(s *Step, r *Report) {
	mode := wire.Text(s.Param("mode"))
	if mode != "form" && mode != "url" {
		return
	}
	r.Judge(!s.Conn.clientOffers("elicitation", mode), Evidence{Text: "asked in the mode " + mode + " without being offered elicitation." + mode, Path: "mode", Got: mode, Because: []uint64{s.Conn.hello.asked.Seq}})
}

// methodGate is the check of all rules that a method may be called only if the other side
// offers it.
func methodGate(s *Step, r *Report) {
	r.Tried()
	if s.Conn.hello.allowed[s.Method] {
		return
	}
	because := s.Conn.hello.answered.Seq
	if s.From == Agent {
		because = s.Conn.hello.asked.Seq
	}
	e := Evidence{Text: "called " + s.Method + " without being offered it", Because: []uint64{because}}
	if offers := dialect.Requires(s.Conn.Dialect, s.Method); len(offers) > 0 {
		e.Text = "called " + s.Method + " without being offered " + offers[0].Path
	}
	r.Add(e)
}

// agentOffers reports whether the agent offered the capability at a path.
func (c *connection) agentOffers(path ...string) bool {
	key := "capabilities"
	if c.Dialect == dialect.ACPv1 {
		key = "agentCapabilities"
	}
	return isMarker(wire.Get(wire.Get(c.hello.agent, key), path...))
}

// clientOffers reports whether the client offered the capability at a path. A client that
// offered version 2 to an agent of version 1 has its capabilities where version 2 has them.
func (c *connection) clientOffers(path ...string) bool {
	said := wire.Get(c.hello.client, "capabilities")
	if c.Dialect == dialect.ACPv1 {
		if v1 := wire.Get(c.hello.client, "clientCapabilities"); wire.Present(v1) {
			said = v1
		}
	}
	return isMarker(wire.Get(said, path...))
}

// isMarker reports whether a value marks something as offered: true or an object, because
// peers accept both.
func isMarker(value []byte) bool {
	return len(value) > 0 && (value[0] == '{' || string(value) == "true")
}

// judgeOffer judges what the client sent: the agent must offer the capability at path.
func (r *Report) judgeOffer(text, at string, got []byte, path ...string) {
	s := r.step
	r.Judge(!s.Conn.agentOffers(path...), Evidence{Text: text, Path: at, Got: string(got), Because: []uint64{s.Conn.hello.answered.Seq}})
}

func directoriesGate(s *Step, r *Report) {
	directories := s.Param("additionalDirectories")
	in := "session"
	if s.Conn.Dialect == dialect.ACPv1 {
		in = "sessionCapabilities"
	}
	for range wire.Elements(directories) {
		r.judgeOffer("sent additionalDirectories without being offered it", "additionalDirectories", directories, in, "additionalDirectories")
		return
	}
}

func transportGate(s *Step, r *Report) {
	for i, server := range wire.Elements(s.Param("mcpServers")) {
		kind := wire.Get(server, "type")
		name, at := wire.Text(kind), dialect.ElementPath("mcpServers", i)
		path := []string{"session", "mcp", name}
		switch {
		case s.Conn.Dialect == dialect.ACPv2 && name == "":
			r.Add(Evidence{Text: "gave an MCP server without a type", Path: at, Want: "a type", Got: string(kind)})
			continue
		case name == "stdio" && s.Conn.Dialect != dialect.ACPv2, name != "stdio" && name != "http" && name != "sse":
			continue
		case s.Conn.Dialect == dialect.ACPv1:
			path = []string{"mcpCapabilities", name}
		}
		r.judgeOffer("gave an MCP server over "+name+" without being offered "+strings.Join(path, "."), at+".type", []byte(name), path...)
	}
}

// contentMarkers maps the types of content in a prompt to the capabilities that allow them.
var contentMarkers = map[string]string{"image": "image", "audio": "audio", "resource": "embeddedContext"}

func contentGate(s *Step, r *Report) {
	for i, block := range wire.Elements(s.Param("prompt")) {
		kind := wire.Text(wire.Get(block, "type"))
		marker, ok := contentMarkers[kind]
		if !ok {
			continue
		}
		path := []string{"session", "prompt", marker}
		if s.Conn.Dialect == dialect.ACPv1 {
			path = []string{"promptCapabilities", marker}
		}
		r.judgeOffer("sent content of the type "+kind+" without being offered "+strings.Join(path, "."), dialect.ElementPath("prompt", i)+".type", []byte(kind), path...)
	}
}

// loginRules judge logins, and requests for input of the user.
var loginRules = checks{
	{"ACP621", loginUnknown},
	{"ACP622", loginTerminal},
	{"ACP623", terminalLoginGate},
	{"ACP624", methodGate},
	{"ACP641", elicitationIdInUse},
}

func loginUnknown(s *Step, r *Report) {
	id := s.Param("methodId")
	r.Judge(loginMethod(s.Conn, wire.Text(id)) == nil, Evidence{Text: "logged in by a method that was not offered", Path: "methodId", Got: string(id), Because: []uint64{s.Conn.hello.answered.Seq}})
}

func loginTerminal(s *Step, r *Report) {
	method := loginMethod(s.Conn, wire.Text(s.Param("methodId")))
	if method == nil {
		return
	}
	r.Judge(wire.Text(wire.Get(method, "type")) == "terminal", Evidence{Text: "passed a login of the type terminal to " + s.Method, Path: "methodId", Got: string(s.Param("methodId")), Because: []uint64{s.Conn.hello.answered.Seq}})
}

func terminalLoginGate(s *Step, r *Report) {
	if s.Conn.hello.client == nil || !s.Succeeded() {
		return
	}
	for i, method := range wire.Elements(s.Result("authMethods")) {
		if wire.Text(wire.Get(method, "type")) != "terminal" {
			continue
		}
		r.Judge(!s.Conn.clientOffers("auth", "terminal"), Evidence{
			Text: "offered a login of the type terminal without being offered auth.terminal",
			Path: dialect.ElementPath("authMethods", i), Got: string(method), Because: []uint64{s.Call.Seq},
		})
	}
}

func elicitationIdInUse(s *Step, r *Report) {
	id := s.Param("elicitationId")
	if !isString(id) {
		return
	}
	r.Tried()
	for call := range s.Conn.calls.All() {
		if call.From == Agent && call.Method == s.Method && wire.Text(wire.Get(call.Params, "elicitationId")) == wire.Text(id) {
			r.Add(Evidence{Text: "used the id of the elicitation in frame " + number(call.Seq) + " again", Path: "elicitationId", Got: string(id), Of: call, Seq: s.Frame.Seq, Entry: s.Entry, Because: []uint64{call.Seq}})
			return
		}
	}
}

// loginMethod returns the login method with an id that the agent offered, nil if
// there is none.
func loginMethod(c *connection, id string) (found []byte) {
	for _, method := range wire.Elements(wire.Get(c.hello.agent, "authMethods")) {
		if wire.Text(wire.Get(method, "id")) == id || wire.Text(wire.Get(method, "methodId")) == id {
			found = method
		}
	}
	return found
}
