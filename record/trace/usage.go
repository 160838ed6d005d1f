package trace

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Count is a number that may be missing.
type Count struct {
	N     uint64
	Given bool
}

// MarshalJSON returns the number; a Count that is not given is left out by omitzero.
func (n Count) MarshalJSON() ([]byte, error) { return strconv.AppendUint(nil, n.N, 10), nil }

// plus adds the counts that are given.
func (n Count) plus(o Count) Count {
	return Count{min(n.N+o.N, maxCount), n.Given || o.Given}
}

// maxCount is the largest integer that all JSON readers handle exactly (RFC 8259, section
// 6).
const maxCount = 1<<53 - 1

// Tokens are the numbers of tokens that a model read and wrote, as reported by the agent;
// nothing is estimated. Agents differ in whether the input includes cached tokens.
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

// Plus adds the counts that are given.
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

// noLess reports whether no count of t is less than that of o.
func (t Tokens) noLess(o Tokens) bool {
	for i, n := range o.counts() {
		if t.counts()[i].N < n.N {
			return false
		}
	}
	return true
}

// tokenPlaces are the places where agents report the tokens of a turn: in the result of the
// prompt or, in version 2, in the idle update. The first place with any counts, because some
// agents report the same numbers in two places.
var tokenPlaces = []string{
	"usage",                   // unstable in all versions: schema of PromptResponse and IdleStateUpdate
	"_meta.quota.token_count", // Gemini CLI 0.53 to 0.59 (google-gemini/gemini-cli#24280); beside usage: codex-acp, claude-agent-acp since 0.71
	"_meta.usage",             // Grok 1.0
}

// tokensOfRequest is where an agent_message_chunk reports the tokens of one request to the
// model; a turn has several (Qwen Code, MessageEmitter.ts).
const tokensOfRequest = "_meta.usage"

// tokenNames are the names that agents use for the token counts.
var tokenNames = [tokenKinds][]string{
	{"inputTokens", "input_tokens", "promptTokens"},                                 // schema of Usage; Gemini CLI; Qwen Code before it took the schema's names
	{"outputTokens", "output_tokens", "completionTokens"},                           // schema; Gemini CLI; Qwen Code
	{"thoughtTokens", "reasoningOutputTokens", "reasoningTokens", "thoughtsTokens"}, // schema; codex-acp, claude-agent-acp; Grok; Qwen Code
	{"cachedReadTokens", "cachedInputTokens", "cachedTokens"},                       // schema; codex-acp, claude-agent-acp; Qwen Code
	{"cachedWriteTokens"}, // schema, codex-acp, claude-agent-acp
	{"totalTokens"},       // all but Gemini CLI
}

const tokenKinds = 6

// tokensIn reads the token counts in an object. It ignores values that cannot be token counts.
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

// take adds the tokens in an update from the agent.
func (u *TurnUsage) take(f *frame, update wire.Value) {
	if f.Update == "agent_message_chunk" && bytes.Contains(f.env.Params, metaKey) {
		u.Tokens = u.Tokens.Plus(tokensIn(update.Get(tokensOfRequest)))
	}
}

// metaKey is searched for first, which is fast; most chunks have no _meta.
var metaKey = []byte(`"_meta"`)

// A costState tracks the total cost of a session, as agents report it.
type costState struct {
	known  bool         // the current cost is known, on this tape
	now    dialect.Cost // zero: nothing
	turn   *Turn        // the newest turn, which new cost is charged to; nil: unknown
	before dialect.Cost // now when that turn began
}

// begin starts to count the cost of a turn. If several turns are open, new cost cannot be
// attributed.
func (s *costState) begin(t *Turn, alone bool) {
	s.known = s.known && alone
	if s.turn = nil; s.known {
		s.turn, s.before = t, s.now
	}
}

// reported records the session's cost. An amount that has decreased or changed its currency is
// not charged to the turn.
func (s *costState) reported(c dialect.Cost) {
	if s.turn != nil {
		s.turn.Usage.Cost = dialect.Cost{}
		if s.before.Currency == "" || s.before.Currency == c.Currency && s.before.Amount <= c.Amount {
			s.turn.Usage.Cost = c.Plus(-s.before.Amount)
		}
	}
	s.known, s.now = true, c
}

// A TokenSum adds up the tokens of the turns of a session. The zero value is ready to use.
type TokenSum struct {
	Turns int // that reported their tokens

	sum, last Tokens
	risen     int // turns that used at least as much of everything as the previous one, and more in total
}

// Add adds the tokens of the next turn.
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

// Total returns the tokens used by all turns. The specification does not say whether agents
// report a turn's tokens or the session's so far. If the numbers rise with each of four or
// more turns, Total assumes the latter: it returns the last turn's numbers, and running is
// true.
func (s *TokenSum) Total() (t Tokens, running bool) {
	if s.Turns >= 4 && s.risen == s.Turns-1 {
		return s.last, true
	}
	return s.sum, false
}
