// Package measure has the numbers that a page tells of a run, and says in words how those of
// two runs differ.
package measure

import (
	"time"

	"github.com/acptap/acptap/record/termtext"
)

// A Value is a number of something. The zero value is one that is not known.
type Value struct {
	kind     kind
	n        int64
	amount   float64
	currency string
}

type kind uint8

const (
	unknown kind = iota
	aCount
	aTime // ns
	anAmount
)

// Count returns how many there are of something.
func Count(n int) Value { return Value{kind: aCount, n: int64(n)} }

// Time returns how long something took.
func Time(d time.Duration) Value { return Value{kind: aTime, n: int64(d)} }

// Amount returns what something cost.
func Amount(n float64, currency string) Value {
	return Value{kind: anAmount, amount: n, currency: termtext.Piece(currency)}
}

// Known reports whether v is known.
func (v Value) Known() bool { return v.kind != unknown }

// Alike reports whether two values are of the same kind, so that they can be compared.
func (v Value) Alike(o Value) bool { return v.kind == o.kind && v.currency == o.currency }

// String returns v for people, – if it is not known.
func (v Value) String() string {
	switch v.kind {
	case aCount:
		return termtext.Grouped(v.n)
	case aTime:
		return termtext.Duration(time.Duration(v.n))
	case anAmount:
		return termtext.Amount(v.amount) + " " + v.currency
	}
	return "–"
}

// number returns v without what it is of.
func (v Value) number() float64 {
	if v.kind == anAmount {
		return v.amount
	}
	return float64(v.n)
}

// minus returns by how much v is larger than a smaller one that is alike.
func (v Value) minus(o Value) Value {
	v.n, v.amount = v.n-o.n, v.amount-o.amount
	return v
}
