package conform

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// gateRules judge uses of the other side's capabilities.
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
	r.Judge(!s.Conn.clientOffers("elicitation."+mode), Evidence{Text: "asked in the mode " + mode + " without being offered elicitation." + mode, Path: "mode", Got: mode, Because: []uint64{s.Conn.hello.asked.Seq}})
}

// methodGate is the check shared by all rules that allow a method only if the other side
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
func (c *connection) agentOffers(path string) bool {
	return hasOffered(c.Dialect, dialect.AgentSide, path, c.hello.agent)
}

// clientOffers reports whether the client offered the capability at a path. If a client
// offered version 2 to an agent of version 1, its capabilities are where version 2 puts
// them.
func (c *connection) clientOffers(path string) bool {
	d := c.Dialect
	if d == dialect.ACPv1 && !wire.Present(wire.Get(c.hello.client, "clientCapabilities")) {
		d = dialect.ACPv2
	}
	return hasOffered(d, dialect.ClientSide, path, c.hello.client)
}

func hasOffered(d dialect.Dialect, side dialect.Side, path string, said []byte) bool {
	return dialect.Capability{Dialects: dialect.SetOf(d), Side: side, Path: path}.Offered(d, said)
}

// judgeOffer judges an act of the client that requires the agent to offer the capability
// at path.
func (r *Report) judgeOffer(did, at, got, path string) {
	s := r.step
	r.Judge(!s.Conn.agentOffers(path), Evidence{Text: did + " without being offered " + path, Path: at, Got: got, Because: []uint64{s.Conn.hello.answered.Seq}})
}

func directoriesGate(s *Step, r *Report) {
	directories := s.Param("additionalDirectories")
	path := "session.additionalDirectories"
	if s.Conn.Dialect == dialect.ACPv1 {
		path = "sessionCapabilities.additionalDirectories"
	}
	for range wire.Elements(directories) {
		r.Judge(!s.Conn.agentOffers(path), Evidence{
			Text: "sent additionalDirectories without being offered it", Path: "additionalDirectories",
			Got: string(directories), Because: []uint64{s.Conn.hello.answered.Seq},
		})
		return
	}
}

func transportGate(s *Step, r *Report) {
	for i, server := range wire.Elements(s.Param("mcpServers")) {
		kind := wire.Get(server, "type")
		name, at := wire.Text(kind), dialect.ElementPath("mcpServers", i)
		path := "session.mcp." + name
		switch {
		case s.Conn.Dialect == dialect.ACPv2 && name == "":
			r.Add(Evidence{Text: "gave an MCP server without a type", Path: at, Want: "a type", Got: string(kind)})
			continue
		case name == "stdio" && s.Conn.Dialect != dialect.ACPv2, name != "stdio" && name != "http" && name != "sse":
			continue
		case s.Conn.Dialect == dialect.ACPv1:
			path = "mcpCapabilities." + name
		}
		r.judgeOffer("gave an MCP server over "+name, at+".type", name, path)
	}
}

// contentMarkers maps types of prompt content to the capabilities that allow them.
var contentMarkers = map[string]string{"image": "image", "audio": "audio", "resource": "embeddedContext"}

func contentGate(s *Step, r *Report) {
	in := "session.prompt."
	if s.Conn.Dialect == dialect.ACPv1 {
		in = "promptCapabilities."
	}
	for i, block := range wire.Elements(s.Param("prompt")) {
		kind := wire.Text(wire.Get(block, "type"))
		if marker, ok := contentMarkers[kind]; ok {
			r.judgeOffer("sent content of the type "+kind, dialect.ElementPath("prompt", i)+".type", kind, in+marker)
		}
	}
}

// loginRules judge logins, and requests for user input.
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
	if s.Conn.hello.client == nil {
		return
	}
	for i, method := range wire.Elements(s.Result("authMethods")) {
		if wire.Text(wire.Get(method, "type")) != "terminal" {
			continue
		}
		r.Judge(!s.Conn.clientOffers("auth.terminal"), Evidence{
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

// loginMethod returns the login method with the given id that the agent offered, or nil
// if there is none.
func loginMethod(c *connection, id string) (found []byte) {
	for _, method := range wire.Elements(wire.Get(c.hello.agent, "authMethods")) {
		if wire.Text(wire.Get(method, "id")) == id || wire.Text(wire.Get(method, "methodId")) == id {
			found = method
		}
	}
	return found
}
