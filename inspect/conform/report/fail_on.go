package report

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
)

// A FailOn says which findings make a check fail.
type FailOn struct {
	Least conform.Strength // findings at least this strong; None: regardless of strength, none
	Hang  bool             // findings that are hangs
}

// ParseFailOn parses a strength, hang, both separated by a comma, or never.
func ParseFailOn(text string) (on FailOn, err error) {
	if text == "never" {
		return on, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		switch {
		case word == "hang" && !on.Hang:
			on.Hang = true
		case on.Least == conform.None && word != "" && on.Least.UnmarshalText([]byte(word)) == nil:
		default:
			return FailOn{}, fmt.Errorf("want violation, warning, hurts, note, hang or never, or a strength with hang as in violation,hang; not %q", text)
		}
	}
	return on, nil
}

// Fails reports whether a finding makes a check fail.
func (on FailOn) Fails(f *conform.Finding) bool {
	return on.Hang && f.Hang || on.Least != conform.None && f.Strength >= on.Least
}
