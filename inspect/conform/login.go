package conform

import (
	"github.com/acptap/acptap/proxy/dialect"
)

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
