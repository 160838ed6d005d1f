package filter

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// A SyntaxError says what is wrong with a query, and where.
type SyntaxError struct {
	Query   string
	Pos     int      // byte in Query
	Problem string   // what is wrong at Pos
	Valid   []string // what would be valid there, if that is a list: keys, operators, words
}

func (e *SyntaxError) Error() string {
	if len(e.Valid) == 0 {
		return e.Problem
	}
	valid := slices.Clone(e.Valid)
	for i, one := range valid {
		if strings.Contains(one, " ") {
			valid[i] = quote(one)
		}
	}
	return fmt.Sprintf("%s; expected one of %s", e.Problem, strings.Join(valid, " "))
}

// Caret returns the query and, on the next line, a ^ under the position, each with a line
// end. Control characters become blanks.
func (e *SyntaxError) Caret() string {
	line := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return ' '
		}, s)
	}
	return line(e.Query) + "\n" + strings.Repeat(" ", uniseg.StringWidth(line(e.Query[:e.Pos]))) + "^\n"
}

// A fault describes what is wrong with a term whose position in the query is not yet
// known.
type fault struct {
	part    part
	problem string
	valid   []string
}

// A part is a part of a term.
type part uint8

const (
	ofKey part = iota
	ofOp
	ofValue
)

func (f *fault) Error() string {
	return (&SyntaxError{Problem: f.problem, Valid: f.valid}).Error()
}
