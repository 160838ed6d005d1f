package report

import (
	"unicode/utf8"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/redact"
)

// maxGot limits the characters of a value that leave this machine.
const maxGot = 120

// Public is the part of a finding that may leave this machine.
type Public struct{ Text, Want, Got string }

// Publish returns the public part of a finding; it may quote the given frames.
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

// Shared returns the finding reduced to its public part.
func (f *Finding) Shared() *conform.Finding {
	shared := f.Finding
	shared.Text, shared.Want, shared.Got = f.Public.Text, f.Public.Want, f.Public.Got
	return &shared
}
