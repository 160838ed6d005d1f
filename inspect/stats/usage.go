package stats

import (
	"math"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/trace"
)

// A Usage is what turns took, as agents report it; nothing is estimated.
type Usage struct {
	Turns   int              // that reported their tokens
	Tokens  trace.Tokens     // of those
	Running bool             // Tokens has numbers that seem to be of a whole session
	Kinds   [kinds]Series    // of each turn: input, output, thought, cached read, cached write, total
	Costs   map[string]*Cost // by currency; of turns with a known cost
	Peak    trace.Count      // the most tokens in the context
}

const kinds = 6

// A Cost is what turns have cost in a currency.
type Cost struct {
	Sum  float64
	Each Series // in billionths
}

// maxCurrencies is how many currencies are counted: agents may call anything a currency.
const maxCurrencies = 16

// add counts a turn, except for the sum of its tokens.
func (u *Usage) add(t *trace.TurnUsage) {
	for i, kind := range kindsOf(&t.Tokens) {
		if kind.Given {
			u.Kinds[i].Add(int64(kind.N))
		}
	}
	if t.Peak.Given {
		u.Peak = trace.Count{N: max(u.Peak.N, t.Peak.N), Given: true}
	}
	if t.Cost.Currency == "" || u.Costs[t.Cost.Currency] == nil && len(u.Costs) == maxCurrencies {
		return
	}
	if u.Costs == nil {
		u.Costs = map[string]*Cost{}
	}
	c := u.Costs[t.Cost.Currency]
	if c == nil {
		c = &Cost{}
		u.Costs[strings.Clone(t.Cost.Currency)] = c
	}
	c.Sum = math.Round((c.Sum+t.Cost.Amount)*1e9) / 1e9
	c.Each.Add(int64(min(t.Cost.Amount*1e9, math.MaxInt64/2)))
}

// addSum adds the tokens of a session.
func (u *Usage) addSum(s *trace.TokenSum) {
	tokens, running := s.Total()
	u.Turns, u.Tokens, u.Running = u.Turns+s.Turns, u.Tokens.Plus(tokens), u.Running || running
}

// kindsOf returns the numbers of tokens in the order of Usage.Kinds.
func kindsOf(t *trace.Tokens) [kinds]trace.Count {
	return [...]trace.Count{t.Input, t.Output, t.Thought, t.CachedRead, t.CachedWrite, t.Total}
}

// currencies returns the currencies in order.
func (u *Usage) currencies() []string {
	var list []string
	for c := range u.Costs {
		list = append(list, c)
	}
	slices.Sort(list)
	return list
}
