package conform

import "github.com/acptap/acptap/proxy/dialect"

// gateRules are about methods that need a capability of the other side.
var gateRules = []Rule{
	gate("ACP121", "load-gate", "session/load", v1AndOld, "loadSession", acp1("Session Setup, Loading Sessions", "session-setup#loading-sessions")),
}

// gate returns the rule that a client calls a method only if the agent offers it.
func gate(id, name, method string, dialects dialect.Dialects, marker string, source Source) Rule {
	return Rule{
		ID: id, Name: name,
		Clauses: []Clause{{For: dialects, Strength: Violation, Word: "MUST NOT", Source: source}},
		Fault:   Client, Needs: Hello, About: method,
		On: []On{{Requests, method, dialect.ClientSide}},
		Text: Text{
			Asks:  "A client may call `" + method + "` only if the agent offered it when it answered `initialize`.",
			Finds: "`" + method + "` is called though the agent did not offer `" + marker + "`.",
			Do:    "look for `" + marker + "` in the answer to `initialize` before you call `" + method + "`",
		},
		Check: func(s *Step, r *Report) {
			r.Tried()
			if !s.Conn.hello.allowed[method] {
				r.Add(Evidence{Text: "called " + method + " without being offered " + marker, Because: []uint64{s.Conn.hello.answered.Seq}})
			}
		},
	}
}
