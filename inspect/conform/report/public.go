package report

import (
	"unicode/utf8"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/redact"
)

// maxGot is how many characters of a value leave this machine.
const maxGot = 120

// Public is what may leave this machine of what a finding says.
type Public struct{ Text, Want, Got string }

// Publish returns it. frames are those that the finding may quote.
func Publish(f *conform.Finding, frames ...redact.Bytes) Public {
	return Public{
		Text: redact.Quoted(f.Text, frames...),
		Want: redact.Quoted(f.Want, frames...),
		Got:  shortened(redact.Quoted(f.Got, frames...)),
	}
}

// shortened returns the beginning of a value.
func shortened(value string) string {
	if utf8.RuneCountInString(value) <= maxGot {
		return value
	}
	runes := []rune(value)
	return string(runes[:maxGot]) + "…"
}

// Shared returns the finding as it may leave this machine.
func (f *Finding) Shared() *conform.Finding {
	shared := f.Finding
	shared.Text, shared.Want, shared.Got = f.Public.Text, f.Public.Want, f.Public.Got
	return &shared
}
