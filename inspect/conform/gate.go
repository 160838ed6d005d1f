package conform

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// gateRules are about what needs a capability of the other side.
var gateRules = []Rule{
	gate("ACP121", "load-gate", "loadSession", []string{"session/load"},
		Clause{For: v1AndOld, Source: acp1("Session Setup, Checking Support", "session-setup#checking-support")}),
	gate("ACP122", "resume-gate", "sessionCapabilities.resume", []string{"session/resume"},
		Clause{For: v1AndOld, Source: acp1("Session Setup, Resuming Sessions", "session-setup#resuming-sessions")}),
	gate("ACP123", "list-gate", "sessionCapabilities.list", []string{"session/list"},
		Clause{For: v1AndOld, Source: acp1("Session List, Checking Support", "session-list#checking-support")}),
	gate("ACP124", "delete-gate", "sessionCapabilities.delete", []string{"session/delete"},
		Clause{For: v1AndOld, Source: acp1("Session Delete, Checking Support", "session-delete#checking-support")},
		Clause{For: v2, Source: acp2("Session Delete, Checking Support", "session-delete#checking-support")}),
	gate("ACP125", "close-gate", "sessionCapabilities.close", []string{"session/close"},
		Clause{For: v1AndOld, Source: acp1("Session Setup, Closing Active Sessions", "session-setup#closing-active-sessions")}),
	{
		ID: "ACP127", Name: "directories-gate",
		Clauses: []Clause{
			{For: v1AndOld, Strength: Violation, Word: "MUST", Source: acp1("Session Setup, Additional Workspace Roots", "session-setup#additional-workspace-roots")},
			{For: v2, Strength: Violation, Word: "MUST", Source: acp2("Session Setup, Additional Workspace Roots", "session-setup#additional-workspace-roots")},
		},
		Fault: Client, Needs: Hello,
		On: setups(Requests, dialect.ClientSide),
		Text: Text{
			Asks:   "A client may send `additionalDirectories` only if the agent offers that.",
			Finds:  "A session is set up with more directories though the agent did not offer `additionalDirectories`: it may not see them.",
			Spares: "An empty list.",
			Do:     "look for `additionalDirectories` among the session capabilities of the agent before you send any",
		},
		Check: directoriesGate,
	},
	{
		ID: "ACP128", Name: "transport-gate",
		Clauses: []Clause{
			{For: v1AndOld, Strength: Violation, Word: "MUST", Source: acp1("Session Setup, Checking Transport Support", "session-setup#checking-transport-support")},
			{For: v2, Strength: Violation, Word: "MUST", Source: acp2("Session Setup, Checking Transport Support", "session-setup#checking-transport-support")},
		},
		Fault: Client, Needs: Hello,
		On: setups(Requests, dialect.ClientSide),
		Text: Text{
			Asks:   "A client may give the agent MCP servers only over transports that the agent offers; version 1 always has stdio.",
			Finds:  "A server of the type `http` or `sse`, in version 2 also `stdio`, that the agent did not offer; in version 2 a server without a type.",
			Spares: "Servers of drafted and of own types.",
			Do:     "look for the transport among the capabilities of the agent, and leave out the servers that it cannot reach",
		},
		Check: transportGate,
	},
	{
		ID: "ACP129", Name: "content-gate",
		Clauses: []Clause{
			{For: v1AndOld, Strength: Violation, Word: "MUST", Source: acp1("Initialization, Prompt capabilities", "initialization#prompt-capabilities")},
			{For: v2, Strength: Violation, Word: "MUST", Source: acp2("Initialization, Prompt capabilities", "initialization#prompt-capabilities")},
		},
		Fault: Client, Needs: Hello,
		On: []On{{Requests, "session/prompt", dialect.ClientSide}},
		Text: Text{
			Asks:  "A prompt has text and links. It may have images, audio and embedded resources only if the agent offers that.",
			Finds: "A prompt with content that the agent did not offer to take.",
			Do:    "look at the prompt capabilities of the agent, and send a link or a text instead",
		},
		Check: contentGate,
	},
	{
		ID: "ACP134", Name: "elicitation-gate",
		Clauses: []Clause{
			{For: v1, Strength: Violation, Word: "MUST", Source: acp1("Initialization, Elicitation", "initialization#elicitation")},
			{For: v2, Strength: Violation, Word: "MUST", Source: acp2("Initialization, Elicitation", "initialization#elicitation")},
		},
		Fault: Agent, Needs: Hello, About: "elicitation/create",
		On: []On{{Requests, "elicitation/create", dialect.AgentSide}},
		Text: Text{
			Asks:  "An agent may ask the user only in a mode that the client offers. An empty `elicitation` offers none, unlike in MCP.",
			Finds: "An elicitation in the mode `form` or `url` that the client did not offer.",
			Do:    "look for `elicitation.form` and `elicitation.url` in the capabilities of the client",
		},
		Check: func(s *Step, r *Report) {
			mode := text(s.Param("mode"))
			if mode != "form" && mode != "url" {
				return
			}
			r.Tried()
			if !s.Conn.clientOffers("elicitation", mode) {
				r.Add(Evidence{Text: "asked in the mode " + mode + " without being offered elicitation." + mode, Path: "mode", Got: mode, Because: []uint64{s.Conn.hello.asked.Seq}})
			}
		},
	},
	gate("ACP135", "logout-gate", "auth.logout", []string{"logout"},
		Clause{For: v1AndOld, Source: acp1("Authentication, Logging Out", "authentication#logging-out")}),
	gate("ACP501", "fs-gate", "fs", []string{"fs/read_text_file", "fs/write_text_file"},
		Clause{For: v1, Source: acp1("File System, Checking Support", "file-system#checking-support")}),
	gate("ACP521", "terminal-gate", "terminal", []string{"terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"},
		Clause{For: v1, Source: acp1("Terminals, Checking Support", "terminals#checking-support")}),
}

// gate returns the rule that methods are called only if the other side offers them,
// by a marker as it is in version 1 among its capabilities.
func gate(id, name, marker string, methods []string, clauses ...Clause) Rule {
	for i := range clauses {
		clauses[i].Strength, clauses[i].Word = Violation, "MUST NOT"
	}
	row, _ := dialect.Lookup(dialect.ACP, methods[0])
	fault, by, where := Client, "agent", "in the answer to `initialize`"
	if row.From == dialect.AgentSide {
		fault, by, where = Agent, "client", "in `initialize`"
	}
	var on []On
	for _, method := range methods {
		on = append(on, On{Requests, method, row.From})
	}
	list := "`" + strings.Join(methods, "`, `") + "`"
	return Rule{
		ID: id, Name: name, Clauses: clauses, Fault: fault, Needs: Hello, About: methods[0], On: on,
		Text: Text{
			Asks:  "These are called only if the " + by + " offered them: " + list + ".",
			Finds: "A call though the " + by + " did not offer `" + marker + "` " + where + ".",
			Do:    "look for `" + marker + "` " + where + " before you call " + list,
		},
		Check: func(s *Step, r *Report) {
			r.Tried()
			if s.Conn.hello.allowed[s.Method] {
				return
			}
			because := s.Conn.hello.answered.Seq
			if fault == Agent {
				because = s.Conn.hello.asked.Seq
			}
			e := Evidence{Text: "called " + s.Method + " without being offered it", Because: []uint64{because}}
			if offers := dialect.Requires(s.Conn.Dialect, s.Method); len(offers) > 0 {
				e.Text = "called " + s.Method + " without being offered " + offers[0].Path
			}
			r.Add(e)
		},
	}
}

// setups returns the messages of a kind that are about a session being set up.
func setups(kind Kinds, from dialect.Side) (on []On) {
	for _, method := range []string{"session/new", "session/load", "session/resume", "session/fork"} {
		on = append(on, On{kind, method, from})
	}
	return on
}

// agentOffers reports whether the agent offered what is at a path of its capabilities.
func (c *connection) agentOffers(path ...string) bool {
	key := "capabilities"
	if c.Dialect == dialect.ACPv1 {
		key = "agentCapabilities"
	}
	return isMarker(get(get(c.hello.agent, key), path...))
}

// clientOffers reports whether the client offered what is at a path of its
// capabilities. A client that spoke of version 2 to an agent that answered version 1
// has them where version 2 has them.
func (c *connection) clientOffers(path ...string) bool {
	said := get(c.hello.client, "capabilities")
	if c.Dialect == dialect.ACPv1 {
		if v1 := get(c.hello.client, "clientCapabilities"); present(v1) {
			said = v1
		}
	}
	return isMarker(get(said, path...))
}

// isMarker reports whether a value says that something is offered: tolerant as peers
// are, by true or by an object.
func isMarker(value []byte) bool {
	return len(value) > 0 && (value[0] == '{' || string(value) == "true")
}

// elements calls yield for each element of a JSON array, with its index.
func elements(array []byte, yield func(i int, element []byte)) {
	r := wire.Inside(array, '[')
	for i := 0; ; i++ {
		element, ok := r.Element()
		if !ok {
			return
		}
		yield(i, element)
	}
}

func directoriesGate(s *Step, r *Report) {
	directories := s.Param("additionalDirectories")
	list := wire.Inside(directories, '[')
	if _, ok := list.Element(); !ok {
		return
	}
	r.Tried()
	path := []string{"session", "additionalDirectories"}
	if s.Conn.Dialect == dialect.ACPv1 {
		path[0] = "sessionCapabilities"
	}
	if !s.Conn.agentOffers(path...) {
		r.Add(Evidence{Text: "sent additionalDirectories without being offered it", Path: "additionalDirectories", Got: string(directories), Because: []uint64{s.Conn.hello.answered.Seq}})
	}
}

func transportGate(s *Step, r *Report) {
	elements(s.Param("mcpServers"), func(i int, server []byte) {
		kind := get(server, "type")
		name := text(kind)
		path := []string{"session", "mcp", name}
		switch {
		case s.Conn.Dialect == dialect.ACPv2 && name == "":
			r.Add(Evidence{Text: "gave an MCP server without a type", Path: dialect.ElementPath("mcpServers", i), Want: "a type", Got: string(kind)})
			return
		case name == "stdio" && s.Conn.Dialect != dialect.ACPv2, name != "stdio" && name != "http" && name != "sse":
			return
		case s.Conn.Dialect == dialect.ACPv1:
			path = []string{"mcpCapabilities", name}
		}
		r.Tried()
		if !s.Conn.agentOffers(path...) {
			r.Add(Evidence{
				Text: "gave an MCP server over " + name + " without being offered " + strings.Join(path, "."),
				Path: dialect.MemberPath(dialect.ElementPath("mcpServers", i), "type"), Got: name, Because: []uint64{s.Conn.hello.answered.Seq},
			})
		}
	})
}

// promptMarkers are what offers a type of content, by the type.
var promptMarkers = map[string]string{"image": "image", "audio": "audio", "resource": "embeddedContext"}

func contentGate(s *Step, r *Report) {
	elements(s.Param("prompt"), func(i int, block []byte) {
		kind := text(get(block, "type"))
		marker := promptMarkers[kind]
		if marker == "" {
			return
		}
		path := []string{"session", "prompt", marker}
		if s.Conn.Dialect == dialect.ACPv1 {
			path = []string{"promptCapabilities", marker}
		}
		r.Tried()
		if !s.Conn.agentOffers(path...) {
			r.Add(Evidence{
				Text: "sent content of the type " + kind + " without being offered " + strings.Join(path, "."),
				Path: dialect.MemberPath(dialect.ElementPath("prompt", i), "type"), Got: kind, Because: []uint64{s.Conn.hello.answered.Seq},
			})
		}
	})
}

// loginRules are about logging in, and about asking the user for input.
var loginRules = []Rule{
	{
		ID: "ACP621", Name: "login-unknown",
		Clauses: []Clause{{For: v1AndOld, Strength: Warning, Word: "must", Source: acp1("Authentication, Authenticating", "authentication#authenticating")}},
		Fault:   Client, Needs: Hello, About: "authenticate",
		On: []On{{Requests, "authenticate", dialect.ClientSide}},
		Text: Text{
			Asks:  "A client logs in by one of the `authMethods` in the answer to `initialize`.",
			Finds: "A `methodId` that is not among them.",
			Do:    "send the `id` of one of the `authMethods`",
		},
		Check: func(s *Step, r *Report) {
			id := s.Param("methodId")
			r.Tried()
			if loginMethod(s.Conn, text(id)) == nil {
				r.Add(Evidence{Text: "logged in by a method that was not offered", Path: "methodId", Got: string(id), Because: []uint64{s.Conn.hello.answered.Seq}})
			}
		},
	},
	{
		ID: "ACP622", Name: "login-terminal",
		Clauses: []Clause{
			{For: v1, Strength: Violation, Word: "MUST NOT", Source: acp1("Authentication, Terminal authentication", "authentication#terminal-authentication")},
			{For: v2, Strength: Violation, Word: "MUST NOT", Source: acp2("Authentication, Terminal authentication", "authentication#terminal-authentication")},
		},
		Fault: Client, Needs: Hello,
		On: []On{{Requests, "authenticate", dialect.ClientSide}, {Requests, "auth/login", dialect.ClientSide}},
		Text: Text{
			Asks:  "A login of the type `terminal` is done in a terminal of its own, where the client runs the agent's program.",
			Finds: "Such a method passed to `authenticate` or `auth/login`.",
			Do:    "run the agent with the `args` and `env` of the method in a terminal, and connect anew",
		},
		Check: func(s *Step, r *Report) {
			method := loginMethod(s.Conn, text(s.Param("methodId")))
			if method == nil {
				return
			}
			r.Tried()
			if text(get(method, "type")) == "terminal" {
				r.Add(Evidence{Text: "passed a login of the type terminal to " + s.Method, Path: "methodId", Got: string(s.Param("methodId")), Because: []uint64{s.Conn.hello.answered.Seq}})
			}
		},
	},
	{
		ID: "ACP623", Name: "terminal-login-gate",
		Clauses: []Clause{
			{For: v1, Strength: Warning, Word: "may … only", Source: acp1("Initialization, Terminal Authentication", "initialization#terminal-authentication")},
			{For: v2, Strength: Warning, Word: "may … only", Source: acp2("Initialization, Terminal Authentication", "initialization#terminal-authentication")},
		},
		Fault: Agent, Needs: Pair,
		On: []On{{Responses, "initialize", dialect.AgentSide}},
		Text: Text{
			Asks:  "An agent offers logins of the type `terminal` only to a client that offers `auth.terminal`.",
			Finds: "Such a login offered to another client, which may pass it to the login call.",
			Do:    "leave logins of the type `terminal` out unless the client offers `auth.terminal`",
		},
		Check: func(s *Step, r *Report) {
			if s.Conn.hello.client == nil || !s.Succeeded() {
				return
			}
			elements(s.Result("authMethods"), func(i int, method []byte) {
				if text(get(method, "type")) != "terminal" {
					return
				}
				r.Tried()
				if !s.Conn.clientOffers("auth", "terminal") {
					r.Add(Evidence{
						Text: "offered a login of the type terminal without being offered auth.terminal",
						Path: dialect.ElementPath("authMethods", i), Got: string(method), Because: []uint64{s.Call.Seq},
					})
				}
			})
		},
	},
	gate("ACP624", "login-gate", "authMethods", []string{"auth/login", "auth/logout"},
		Clause{For: v2, Source: acp2("Authentication, Advertising Authentication", "authentication#advertising-authentication")}),
	{
		ID: "ACP641", Name: "elicitation-id-in-use",
		Clauses: []Clause{
			{For: v1, Strength: Violation, Word: "MUST", Source: acp1("Elicitation", "elicitation")},
			{For: v2, Strength: Violation, Word: "MUST", Source: acp2("Elicitation", "elicitation")},
		},
		Fault: Agent, Needs: Connection,
		On: []On{{Requests, "elicitation/create", dialect.AgentSide}},
		Text: Text{
			Asks:   "The `elicitationId` tells which elicitation is complete, so it is of one at a time.",
			Finds:  "The id of another elicitation whose request is still open.",
			Spares: "The id of one that was answered.",
			Do:     "make a new `elicitationId` for each elicitation",
		},
		Check: func(s *Step, r *Report) {
			id := s.Param("elicitationId")
			if !isString(id) {
				return
			}
			r.Tried()
			for call := range s.Conn.calls.All() {
				if call.From == Agent && call.Method == s.Method && text(get(call.Params, "elicitationId")) == text(id) {
					r.Add(Evidence{Text: "used the id of the elicitation in frame " + number(call.Seq) + " again", Path: "elicitationId", Got: string(id), Of: call, Seq: s.Frame.Seq, Entry: s.Entry, Because: []uint64{call.Seq}})
					return
				}
			}
		},
	},
}

// loginMethod returns the login method with an id that the agent offered, nil if
// there is none.
func loginMethod(c *connection, id string) (found []byte) {
	elements(get(c.hello.agent, "authMethods"), func(_ int, method []byte) {
		if text(get(method, "id")) == id || text(get(method, "methodId")) == id {
			found = method
		}
	})
	return found
}
