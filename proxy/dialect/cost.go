package dialect

import (
	"math"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A Cost is an amount of money, as the agent reports it: what a session has cost since it
// began.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // ISO 4217; empty: there is no cost
}

// maxAmount is the largest integer that all JSON readers handle exactly (RFC 8259, section
// 6). Sums of larger amounts could overflow.
const maxAmount = 1<<53 - 1

// CostOf reads the cost in a usage_update. Without a valid amount and a currency there is
// none.
func CostOf(v wire.Value) Cost {
	amount, currency := v.Get("amount"), v.Get("currency").Text()
	if !amount.IsNumber() || amount.Float() < 0 || amount.Float() > maxAmount || currency == "" || len(currency) > maxName {
		return Cost{}
	}
	return Cost{amount.Float(), strings.Clone(currency)}
}

// Plus returns a cost that is so much higher, or lower if amount is negative. It is rounded
// to remove the error of binary fractions.
func (c Cost) Plus(amount float64) Cost {
	c.Amount = math.Round((c.Amount+amount)*1e9) / 1e9
	return c
}
