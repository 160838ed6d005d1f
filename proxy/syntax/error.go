// Package syntax reports mistakes in texts that people write by hand: rules, and scripts of
// conversations.
package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// An Error says what is wrong with a text, and where.
type Error struct {
	File         string // in the form in which the caller names it
	Line, Column int    // from 1; columns count characters
	Text         string // the line
	Problem      string
	Valid        []string // what would be valid there, if there are few possibilities
}

// At returns an Error about the text of a file at an offset.
func At(file, text string, offset int, problem string, valid ...string) *Error {
	offset = min(offset, len(text))
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	line = strings.TrimSuffix(line, "\r")
	return &Error{
		File: file, Line: Line(text, offset), Column: utf8.RuneCountInString(text[start:offset]) + 1,
		Text: strings.ToValidUTF8(line, "\ufffd"), Problem: problem, Valid: valid,
	}
}

// Line returns the number of the line at an offset in a text, from 1.
func Line(text string, offset int) int { return strings.Count(text[:offset], "\n") + 1 }

func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
	if len(e.Valid) > 0 {
		text += "; expected one of " + strings.Join(e.Valid, " ")
	}
	return text
}

// Caret returns the line and, below it, a ^ under the position, each with a line end.
// Control characters become blanks.
func (e *Error) Caret() string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, e.Text)
	before := []rune(line)
	before = before[:min(e.Column-1, len(before))]
	return line + "\n" + strings.Repeat(" ", uniseg.StringWidth(string(before))) + "^\n"
}
