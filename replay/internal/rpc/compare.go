package rpc

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/redact"
)

// Regular expressions for the text that a removed secret may have had: in a JSON string,
// in a line of an outline, and where a permission depends on it.
const (
	AnyString = `(?:[^"\\]|\\.)*`
	AnyText   = `.*`
	AnyToken  = `[\w.~+/=-]*` // no characters that could extend a command
)

// LacksSecret reports whether a secret was removed from a recorded message.
func LacksSecret(message []byte) bool { return bytes.Contains(message, []byte(redact.Placeholder)) }

// Fits reports whether a value matches the recorded one.
func Fits(recorded, now, secret string) bool {
	return recorded == now || strings.Contains(recorded, redact.Placeholder) && Pattern(recorded, secret).MatchString(now)
}

// Pattern returns a regular expression that matches text with anything that matches
// secret in place of its removed secrets.
func Pattern(text, secret string) *regexp.Regexp {
	parts := strings.Split(text, redact.Placeholder)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`^(?s:` + strings.Join(parts, secret) + `)$`)
}

// FieldsFit reports whether fields match the recorded ones, one by one.
func FieldsFit(recorded, now []dialect.Field, secret string) bool {
	if len(recorded) != len(now) {
		return false
	}
	for i, f := range recorded {
		if f.Path != now[i].Path || !Fits(f.Value, now[i].Value, secret) {
			return false
		}
	}
	return true
}

// HideSecrets returns a value with its secrets removed, for a report.
func HideSecrets(method, path, value string) string {
	if value == "" {
		return ""
	}
	path = strings.ReplaceAll(path, `"`, "") // quotes around names that have dots
	return string(redact.Field(method, path, []byte(value)))
}

// Lasting removes the fields that change with each run: ids that one side made up.
func Lasting(fields []dialect.Field) []dialect.Field {
	return slices.DeleteFunc(fields, func(f dialect.Field) bool {
		switch f.Class {
		case dialect.Plain, dialect.FilePath, dialect.ChoiceID, dialect.Version:
			return false
		}
		return true
	})
}
