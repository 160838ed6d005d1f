package filter

import (
	"slices"
	"sync"
)

// A Key is what a term may ask for.
type Key struct {
	Name  string
	Means string   // in a few words
	Words []string // all values of a closed set, else nil
}

// Keys returns the keys in the order in which they are best shown.
func Keys() []Key {
	list := make([]Key, len(keys()))
	for i, k := range keys() {
		list[i] = Key{k.name, k.means, slices.Clone(k.words)}
	}
	return list
}

func keyNames() []string {
	names := make([]string, len(keys()))
	for i, k := range keys() {
		names[i] = k.name
	}
	return names
}

// key is a row of the table of keys.
type key struct {
	name  string
	means string
	ops   []string
	words []string
	// ranges reports whether from..to, either of them possibly empty, is a
	// range and not a value with two dots in it.
	ranges func(from, to string) bool
	// test returns what a term asks, or what is wrong with its value. path is
	// that of a term with the key anyPath.
	test func(w written, path string) (t test, problem string)
}

// The operators of words, of texts, and of what can be more or less.
var (
	wordOps  = []string{":", "="}
	textOps  = []string{":", "=", "~"}
	rangeOps = []string{":", "=", ">", ">=", "<", "<="}
	pathOps  = []string{":", "=", "~", ">", ">=", "<", "<="}
)

// Made at first use: every proxy would pay for it at its start.
var keys = sync.OnceValue(func() []key {
	return []key{
		{"method", "of a request, notification or response; * stands for any characters", textOps, nil, never, annotationTerm(method, globs)},
		{"update", "variant of a session/update; * stands for any characters", textOps, nil, never, annotationTerm(update, globs)},
		{"kind", "of the frame as JSON-RPC", wordOps, words(kind), never, wordTerm(kind)},
		{"dir", "client to agent, agent to client, or the agent's stderr", wordOps, words(dir), never, wordTerm(dir)},
		{"is", "a response with an error; a request without a response; a gap where bytes are missing; any failure; an event that was sent again; what acptap check finds", wordOps, words(state), never, wordTerm(state)},
		{"failure", "what went wrong", wordOps, words(failure), never, wordTerm(failure)},
		{"slow", "what came late, and is not failed: an agent, a tool, a set-up, another answer (acptap watch)", wordOps, words(slow), never, wordTerm(slow)},
		{"rule", "id or name of a broken rule of acptap check, such as ACP44*", textOps, nil, never, ruleTerm},
		{"by", "who broke a rule of acptap check", wordOps, words(by), never, wordTerm(by)},
		{"session", "beginning of the session's id", textOps, nil, never, annotationTerm(session, prefixes)},
		{"turn", "number of the turn in its session", rangeOps, nil, always, rangeTerm(turn, number)},
		{"tool", "beginning of the tool call's id, or a part of its title", textOps, nil, never, toolTerm},
		{"server", "on whose tape the frame is (acptap proxy --mcp); * as above", textOps, nil, never, serverTerm},
		{"id", "of a request or response: the number, or the beginning of the text", textOps, nil, never, idTerm},
		{"text", "somewhere in the frame; case counts if it has capital letters", textOps, nil, never, textTerm},
		{"latency", "time from the request to this response, such as >2s", rangeOps, nil, always, rangeTerm(latency, duration)},
		{"time", "since the tape began (1m30s), of day (15:04:05), or RFC 3339", rangeOps, nil, always, timeTerm},
		{"size", "bytes of the frame, such as >64k", rangeOps, nil, always, rangeTerm(size, byteSize)},
		{"seq", "number of the frame on the tape", rangeOps, nil, always, rangeTerm(seq, number)},
		{"stream", "number of the HTTP exchange or WebSocket", rangeOps, nil, always, rangeTerm(stream, number)},
		{"origin", "whether acptap held the frame back, made it or changed it", wordOps, words(origin), never, wordTerm(origin)},
	}
})

// anyPath is the key of all paths.
var anyPath = key{"path", "value in the frame, by its gjson path", pathOps, nil, areNumbers, pathTerm}

func never(string, string) bool  { return false }
func always(string, string) bool { return true }
