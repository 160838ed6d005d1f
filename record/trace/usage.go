package trace

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Count is a number that may not have been given.
type Count struct {
	N     uint64
	Given bool
}

// MarshalJSON returns the number; a Count that is not given is left out by omitzero.
func (n Count) MarshalJSON() ([]byte, error) { return strconv.AppendUint(nil, n.N, 10), nil }

// plus adds what is given.
func (n Count) plus(o Count) Count {
	return Count{min(n.N+o.N, maxCount), n.Given || o.Given}
}

// maxCount is the largest integer that all JSON readers handle exactly (RFC 8259, section
// 6).
const maxCount = 1<<53 - 1

// Tokens are what a model has read and written, as the agent reports it: nothing is
// estimated. Agents differ in whether cached tokens are part of the input.
type Tokens struct {
	Input       Count `json:"input,omitzero"`
	Output      Count `json:"output,omitzero"`
	Thought     Count `json:"thought,omitzero"`
	CachedRead  Count `json:"cachedRead,omitzero"`
	CachedWrite Count `json:"cachedWrite,omitzero"`
	Total       Count `json:"total,omitzero"`
}

// counts returns all counts, in the order of tokenNames.
func (t *Tokens) counts() [tokenKinds]*Count {
	return [...]*Count{&t.Input, &t.Output, &t.Thought, &t.CachedRead, &t.CachedWrite, &t.Total}
}

// Plus adds what is given.
func (t Tokens) Plus(o Tokens) Tokens {
	more := o.counts()
	for i, n := range t.counts() {
		*n = n.plus(*more[i])
	}
	return t
}

// all returns the total, or the sum of the parts if no total is given.
func (t Tokens) all() uint64 {
	if t.Total.Given {
		return t.Total.N
	}
	return t.Input.N + t.Output.N + t.Thought.N + t.CachedRead.N + t.CachedWrite.N
}

// noLess reports whether no number of t is less than that of o.
func (t Tokens) noLess(o Tokens) bool {
	for i, n := range o.counts() {
		if t.counts()[i].N < n.N {
			return false
		}
	}
	return true
}

// tokenPlaces are where agents report the tokens of a turn, in the result of its prompt or,
// in version 2, in the update that says idle. The first place that has any counts: some
// agents report the same in two places.
var tokenPlaces = []string{
	"usage",                   // unstable in all versions: schema of PromptResponse and IdleStateUpdate
	"_meta.quota.token_count", // Gemini CLI 0.53 to 0.59 (google-gemini/gemini-cli#24280); beside usage: codex-acp, claude-agent-acp since 0.71
	"_meta.usage",             // Grok 1.0
}

// tokensOfRequest is where an agent_message_chunk reports the tokens of one request to the
// model; a turn has several (Qwen Code, MessageEmitter.ts).
const tokensOfRequest = "_meta.usage"

// tokenNames are the names that numbers of tokens have in these places.
var tokenNames = [tokenKinds][]string{
	{"inputTokens", "input_tokens", "promptTokens"},                                 // schema of Usage; Gemini CLI; Qwen Code before it took the schema's names
	{"outputTokens", "output_tokens", "completionTokens"},                           // schema; Gemini CLI; Qwen Code
	{"thoughtTokens", "reasoningOutputTokens", "reasoningTokens", "thoughtsTokens"}, // schema; codex-acp, claude-agent-acp; Grok; Qwen Code
	{"cachedReadTokens", "cachedInputTokens", "cachedTokens"},                       // schema; codex-acp, claude-agent-acp; Qwen Code
	{"cachedWriteTokens"}, // schema, codex-acp, claude-agent-acp
	{"totalTokens"},       // all but Gemini CLI
}

const tokenKinds = 6

// tokensIn reads the tokens in an object. It ignores values that cannot be a number of
// tokens.
func tokensIn(v wire.Value) Tokens {
	var t Tokens
	if !v.IsObject() {
		return t
	}
	v.ForEach(func(name, n wire.Value) bool {
		kind := slices.IndexFunc(tokenNames[:], func(names []string) bool { return slices.Contains(names, name.Text()) })
		if kind >= 0 && n.IsNumber() && n.Float() >= 0 && n.Float() <= maxCount && n.Float() == math.Trunc(n.Float()) {
			*t.counts()[kind] = Count{uint64(n.Float()), true}
		}
		return true
	})
	return t
}

// A TurnUsage is what a turn consumed.
type TurnUsage struct {
	Tokens Tokens
	Cost   dialect.Cost // growth of the session's cost from this prompt to the next

	Context Count // tokens in the model's context, as last reported
	Peak    Count // the highest Context
}

// fill records how full the context is.
func (u *TurnUsage) fill(now *Usage) {
	u.Context = Count{min(now.Used, maxCount), true}
	u.Peak = Count{max(u.Peak.N, u.Context.N), true}
}

// answered records the tokens reported at the end of the turn, which replace those of its
// parts.
func (u *TurnUsage) answered(result wire.Value) {
	for _, place := range tokenPlaces {
		if t := tokensIn(result.Get(place)); t != (Tokens{}) {
			u.Tokens = t
			return
		}
	}
}

// take adds the tokens reported by an update from the agent.
func (u *TurnUsage) take(f *frame, update wire.Value) {
	if f.Update == "agent_message_chunk" && bytes.Contains(f.env.Params, metaKey) {
		u.Tokens = u.Tokens.Plus(tokensIn(update.Get(tokensOfRequest)))
	}
}

// metaKey is searched for first, because that is fast and most chunks have none.
var metaKey = []byte(`"_meta"`)

// A costState tracks the cost of a session, which agents report as a sum since its
// beginning.
type costState struct {
	known  bool         // the cost until now is known, on this tape
	now    dialect.Cost // zero: nothing
	turn   *Turn        // the newest turn, which new cost belongs to; nil: unknown whose cost it is
	before dialect.Cost // now when that turn began
}

// begin begins to count the cost of a turn. With several turns at once it is unknown
// whose cost it is.
func (s *costState) begin(t *Turn, alone bool) {
	s.known = s.known && alone
	if s.turn = nil; s.known {
		s.turn, s.before = t, s.now
	}
}

// reported records the session's cost. An amount that has decreased, or is in another
// currency, says nothing about the turn.
func (s *costState) reported(c dialect.Cost) {
	if s.turn != nil {
		s.turn.Usage.Cost = dialect.Cost{}
		if s.before.Currency == "" || s.before.Currency == c.Currency && s.before.Amount <= c.Amount {
			s.turn.Usage.Cost = c.Plus(-s.before.Amount)
		}
	}
	s.known, s.now = true, c
}

// A TokenSum adds up the tokens of the turns of a session. Its zero value has none.
type TokenSum struct {
	Turns int // that reported their tokens

	sum, last Tokens
	risen     int // turns that used no less of anything than the previous one, and more in total
}

// Add adds a turn, in order.
func (s *TokenSum) Add(t Tokens) {
	if t == (Tokens{}) {
		return
	}
	if s.Turns > 0 && t.noLess(s.last) && t.all() > s.last.all() {
		s.risen++
	}
	s.Turns++
	s.sum, s.last = s.sum.Plus(t), t
}

// Total returns what the turns used. running says that it is the number of the last turn
// alone: the specification does not say whether agents report the turn or the session so
// far, so if numbers rise with each of four or more turns, Total assumes they are the
// session's.
func (s *TokenSum) Total() (t Tokens, running bool) {
	if s.Turns >= 4 && s.risen == s.Turns-1 {
		return s.last, true
	}
	return s.sum, false
}
