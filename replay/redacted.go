package replay

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/redact"
)

// Of a tape whose secrets were taken out it is not known what stood there. There
// everything fits.

// What may stand in place of a secret, as a regular expression: in the JSON of a
// string, in a line of an outline, and where a permission depends on it.
const (
	anyString = `(?:[^"\\]|\\.)*`
	anyText   = `.*`
	anyToken  = `[\w.~+/=-]*` // nothing that could add something to a command
)

// lacksSecret reports whether a recorded message had a secret.
func lacksSecret(message []byte) bool { return bytes.Contains(message, []byte(redact.Placeholder)) }

// fits reports whether a value of now is what was recorded.
func fits(recorded, now, secret string) bool {
	return recorded == now || strings.Contains(recorded, redact.Placeholder) && pattern(recorded, secret).MatchString(now)
}

// pattern returns what matches a text whatever stood in it in place of secrets.
func pattern(text, secret string) *regexp.Regexp {
	parts := strings.Split(text, redact.Placeholder)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`^(?s:` + strings.Join(parts, secret) + `)$`)
}

// fieldsFit reports whether all that was recorded is so now.
func fieldsFit(recorded, now []dialect.Field, secret string) bool {
	if len(recorded) != len(now) {
		return false
	}
	for i, f := range recorded {
		if f.Path != now[i].Path || !fits(f.Value, now[i].Value, secret) {
			return false
		}
	}
	return true
}

// harmless returns a value without the secrets in it, to be told of.
func harmless(method, path, value string) string {
	if value == "" {
		return ""
	}
	path = strings.ReplaceAll(path, `"`, "") // around the names of members that have dots
	return string(redact.Field(method, path, []byte(value)))
}
