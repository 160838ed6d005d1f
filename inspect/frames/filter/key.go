package filter

import (
	"sync"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Key is what a term may query.
type Key struct {
	Name  string
	Means string // in a few words

	ops   []string
	words []word // nil if any value is allowed
	// ranges reports whether from..to, where either may be empty, is a range rather than
	// a value that contains two dots.
	ranges func(from, to string) bool
	test   testMaker
}

func keyNames() (names []string) {
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	return names
}

// Words returns all values of a closed set, or nil if the set is open.
func (k *Key) Words() (list []string) {
	for _, w := range k.words {
		list = append(list, w.name)
	}
	return list
}

// Operators for words, for texts, and for ordered values.
var (
	wordOps  = []string{":", "="}
	textOps  = []string{":", "=", "~"}
	rangeOps = []string{":", "=", ">", ">=", "<", "<="}
	pathOps  = []string{":", "=", "~", ">", ">=", "<", "<="}
)

// Keys returns the keys in the order in which to show them. Callers must not modify the
// slice.
func Keys() []Key { return keys() }

// Built at first use, so proxies do not pay for it at startup.
var keys = sync.OnceValue(func() []Key {
	return []Key{
		{"method", "of a request, notification or response; * stands for any characters", textOps, nil, never, matching(0, globs, annotated(func(a *dialect.Annotation) string { return a.Method }))},
		{"update", "variant of a session/update; * stands for any characters", textOps, nil, never, matching(0, globs, annotated(func(a *dialect.Annotation) string { return a.Update }))},
		closed("kind", "of the frame as JSON-RPC", namesOf(wire.Invalid, wire.Body, func(s *Subject) wire.Kind { return s.Kind })),
		closed("dir", "client to agent, agent to client, or the agent's stderr", namesOf(wire.ClientToAgent, wire.AgentStderr, func(s *Subject) wire.Direction { return s.Dir })),
		closed("is", "a response with an error; a request without a response; a gap where bytes are missing; any failure; what was cancelled; an event that was sent again; what acptap check finds", stateWords()),
		closed("failure", "what went wrong", failureWords()),
		closed("slow", "what came late, and is not failed: an agent, a tool, a set-up, another answer (acptap watch)", namesOf(dialect.Silent, dialect.Hung, func(s *Subject) dialect.Slow { return s.Slow() })),
		closed("stop", "why a turn ended, as the agent said", stopWords()),
		closed("outcome", "how a turn or the agent's process ended, told by the frame that ended it", outcomeWords()),
		closed("permission", "a request for a permission and its answer: what the user decided", permissionWords()),
		{"rule", "id or name of a broken rule of acptap check, such as ACP44*; or name of a rule that changed the traffic", textOps, nil, never, matching(ofFindings|ofBytes|ofPast, globs, ofRule)},
		closed("by", "who broke a rule of acptap check", byWords()),
		{"session", "beginning of the session's id", textOps, nil, never, matching(ofSession, prefixes, inSession)},
		{"turn", "number of the turn in its session", rangeOps, nil, always, rangeTerm(ofPast, number, func(s *Subject) (int64, bool) { return int64(s.Turn), s.Turn > 0 })},
		{"tool", "beginning of the tool call's id, or a part of its title", textOps, nil, never, toolTerm},
		{"server", "on whose tape the frame is (acptap proxy --mcp); * as above", textOps, nil, never, matching(0, globs, func(s *Subject, is func(string) bool) bool { return is(s.Server) })},
		{"id", "of a request or response: the number, or the beginning of the text", textOps, nil, never, idTerm},
		{"text", "somewhere in the frame; case counts if it has capital letters", textOps, nil, never, textTerm},
		{"latency", "time from the request to this response, such as >2s", rangeOps, nil, always, rangeTerm(ofPast, duration, func(s *Subject) (int64, bool) { return int64(s.Latency), s.Latency > 0 })},
		{"time", "since the tape began (1m30s), of day (15:04:05), or RFC 3339", rangeOps, nil, always, timeTerm},
		{"size", "bytes of the frame, such as >64k", rangeOps, nil, always, rangeTerm(0, byteSize, func(s *Subject) (int64, bool) { return s.Size, true })},
		{"seq", "number of the frame on the tape", rangeOps, nil, always, rangeTerm(0, number, func(s *Subject) (int64, bool) { return int64(s.Seq), true })},
		{"stream", "number of the HTTP exchange or WebSocket", rangeOps, nil, always, rangeTerm(0, number, func(s *Subject) (int64, bool) { return int64(s.Stream), s.Stream > 0 })},
		closed("origin", "whether acptap held the frame back, made it or changed it", namesOf(wire.Wire, wire.Rewritten, func(s *Subject) wire.Origin { return s.Origin })),
	}
})

// anyPath is the key of all paths.
var anyPath = Key{"path", "value in the frame, by its gjson path", pathOps, nil, areNumbers, pathTerm}

func never(string, string) bool  { return false }
func always(string, string) bool { return true }
