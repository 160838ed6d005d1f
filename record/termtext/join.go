package termtext

import (
	"slices"
	"strings"
)

// MaxPiece is the maximum length of a piece in characters: a long title leaves room for the status
// next to it.
const MaxPiece = 160

// Piece returns text from the wire as a part of a line.
func Piece(s string) string { return Brief(s, MaxPiece) }

// Spaced joins the non-empty parts with blanks.
func Spaced(parts ...string) string { return joined(" ", parts) }

// Dotted joins the non-empty parts with dots.
func Dotted(parts ...string) string { return joined(" · ", parts) }

func joined(between string, parts []string) string {
	given := slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
	return strings.Join(given, between)
}

// Labelled puts a word before non-empty text.
func Labelled(word, s string) string {
	if s == "" {
		return ""
	}
	return word + " " + s
}
