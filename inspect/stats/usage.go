package stats

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// A Usage is what turns used according to agents; nothing is estimated.
type Usage struct {
	Turns   int              // that reported their tokens
	Tokens  trace.Tokens     // of those
	Running bool             // Tokens holds numbers that seem to cover a whole session
	Kinds   [kinds]Series    // of each turn: input, output, thought, cached read, cached write, total
	Costs   map[string]*Cost // by currency; of turns with a known cost
	Peak    trace.Count      // the most tokens in the context
}

const kinds = 6

// A Cost is what turns or sessions have cost in a currency.
type Cost struct {
	Sum  float64
	Each Series // in billionths
}

// maxCurrencies limits the currencies counted: agents may call anything a currency.
const maxCurrencies = 16

// add counts a turn, except for the sum of its tokens.
func (u *Usage) add(t *trace.TurnUsage) {
	for i, kind := range kindsOf(&t.Tokens) {
		if kind.Given {
			u.Kinds[i].Add(int64(kind.N))
		}
	}
	u.Peak = most(u.Peak, t.Peak)
	addCost(&u.Costs, t.Cost)
}

// addSum adds the tokens of a session.
func (u *Usage) addSum(s trace.TokenSum) {
	tokens, running := s.Total()
	u.Turns, u.Tokens, u.Running = u.Turns+s.Turns, u.Tokens.Plus(tokens), u.Running || running
}

func (u *Usage) merge(o *Usage) {
	u.Turns, u.Tokens, u.Running = u.Turns+o.Turns, u.Tokens.Plus(o.Tokens), u.Running || o.Running
	for i := range u.Kinds {
		u.Kinds[i].Merge(&o.Kinds[i])
	}
	u.Peak = most(u.Peak, o.Peak)
	mergeCosts(&u.Costs, o.Costs)
}

// kindsOf returns the token counts in the order of Usage.Kinds.
func kindsOf(t *trace.Tokens) [kinds]trace.Count {
	return [...]trace.Count{t.Input, t.Output, t.Thought, t.CachedRead, t.CachedWrite, t.Total}
}

func most(a, b trace.Count) trace.Count {
	return trace.Count{N: max(a.N, b.N), Given: a.Given || b.Given}
}

// costIn returns the Cost in a currency, or nil if there are too many.
func costIn(costs *map[string]*Cost, currency string) *Cost {
	if *costs == nil {
		*costs = map[string]*Cost{}
	}
	c := (*costs)[currency]
	if c == nil && len(*costs) < maxCurrencies {
		c = &Cost{}
		(*costs)[strings.Clone(currency)] = c
	}
	return c
}

func addCost(costs *map[string]*Cost, one dialect.Cost) {
	if one.Currency == "" {
		return
	}
	if c := costIn(costs, one.Currency); c != nil {
		c.Sum = one.Plus(c.Sum).Amount
		c.Each.Add(int64(min(one.Amount*1e9, math.MaxInt64/2)))
	}
}

func mergeCosts(costs *map[string]*Cost, more map[string]*Cost) {
	for _, currency := range currencies(more) {
		if c := costIn(costs, currency); c != nil {
			c.Sum = dialect.Cost{Amount: c.Sum}.Plus(more[currency].Sum).Amount
			c.Each.Merge(&more[currency].Each)
		}
	}
}

// currencies returns the currencies in sorted order.
func currencies(costs map[string]*Cost) []string { return slices.Sorted(maps.Keys(costs)) }
