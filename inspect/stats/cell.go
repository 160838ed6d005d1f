package stats

import (
	"math"
	"strconv"
	"time"

	"github.com/acptap/acptap/record/termtext"
)

// A Cell is a value in a table. The zero value is unknown.
type Cell struct {
	kind  cellKind
	text  string
	n     int64
	x     float64
	about bool // the value is only approximately what the column says
	below bool // of a text: the row belongs to the row above
}

type cellKind uint8

const (
	missing cellKind = iota
	aText
	aCount
	aTime   // ns
	aNumber // with decimals
	aShare  // of 1
	anAmount
	aFlag
)

func text(s string) Cell {
	if s == "" {
		return Cell{}
	}
	return Cell{kind: aText, text: s}
}

func count(n int) Cell { return Cell{kind: aCount, n: int64(n)} }

func took(d time.Duration) Cell { return Cell{kind: aTime, n: int64(d)} }

// TellsNothing reports whether the value is unknown, or is a count or time of 0.
func (c Cell) TellsNothing() bool {
	return c.kind == missing || (c.kind == aCount || c.kind == aTime) && c.n == 0
}

// String returns the value for people, or – if it is unknown. The text is clean.
func (c Cell) String() string {
	s := ""
	switch c.kind {
	case aText:
		if s = termtext.Piece(c.text); c.below {
			s = "· " + s
		}
		return s
	case aCount:
		s = termtext.Grouped(c.n)
	case aTime:
		if s = "0"; c.n > 0 {
			s = termtext.Duration(time.Duration(c.n))
		}
	case aNumber:
		s = strconv.FormatFloat(c.x, 'f', 1, 64)
	case aShare:
		if c.x > 0 && c.x < 0.01 {
			return "< 1 %"
		}
		s = strconv.FormatFloat(100*c.x, 'f', 0, 64) + " %"
	case anAmount:
		s = termtext.Amount(c.x)
	case aFlag:
		return "yes"
	default:
		return "–"
	}
	if c.about {
		s = "~" + s
	}
	return s
}

// Plain returns the value for programs, with times in seconds. It is empty for an unknown
// value.
func (c Cell) Plain() string {
	switch c.kind {
	case aText:
		return c.text
	case aCount:
		return strconv.FormatInt(c.n, 10)
	case aTime:
		return termtext.Seconds(c.n).String()
	case aNumber, aShare, anAmount:
		return strconv.FormatFloat(math.Round(c.x*1e9)/1e9, 'f', -1, 64)
	case aFlag:
		return "true"
	}
	return ""
}

// A unit makes cells from the numbers of a Series.
type unit struct {
	name string // for programs: s, tokens, 1/s or a currency
	cell func(n int64) Cell
}

var (
	inTime   = unit{"s", func(n int64) Cell { return took(time.Duration(n)) }}
	inTokens = unit{"tokens", func(n int64) Cell { return Cell{kind: aCount, n: n} }}
	inRate   = unit{"1/s", func(n int64) Cell { return Cell{kind: aNumber, x: float64(n) / 1000} }}
)

// inMoney returns the unit for numbers in billionths of a currency.
func inMoney(currency string) unit {
	return unit{currency, func(n int64) Cell { return Cell{kind: anAmount, x: float64(n) / 1e9} }}
}
