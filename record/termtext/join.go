package termtext

import "strings"

// MaxPiece is how many characters a piece has: a long title leaves room for the
// status beside it.
const MaxPiece = 160

// Piece makes text from the wire fit to be a part of a line.
func Piece(s string) string { return Brief(s, MaxPiece) }

// Spaced joins the parts that are not empty with blanks.
func Spaced(parts ...string) string { return joined(" ", parts) }

// Dotted joins the parts that are not empty with dots between.
func Dotted(parts ...string) string { return joined(" · ", parts) }

func joined(between string, parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(between)
		}
		b.WriteString(p)
	}
	return b.String()
}

// Labelled puts a word before text that is not empty.
func Labelled(word, s string) string {
	if s == "" {
		return ""
	}
	return word + " " + s
}
