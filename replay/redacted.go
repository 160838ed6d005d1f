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

// covered returns both lists of lines with the secrets left out of one that the
// other one lacks: a line that fits one with a secret taken out becomes that one.
func covered(a, b []string) (_, _ []string) {
	return cover(a, b), cover(b, a)
}

func cover(lines, others []string) []string {
	var patterns []*regexp.Regexp
	var texts []string
	same := make(map[string]bool, len(others))
	for _, text := range others {
		if !same[text] && strings.Contains(text, redact.Placeholder) {
			patterns, texts = append(patterns, pattern(text, anyText)), append(texts, text)
		}
		same[text] = true
	}
	if len(patterns) == 0 {
		return lines
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line
		for n, p := range patterns {
			if !same[line] && p.MatchString(line) {
				out[i] = texts[n]
				break
			}
		}
	}
	return out
}

// hidden returns differences without the secrets in them. method is that of the
// messages.
func hidden(method string, differs []Difference) []Difference {
	list := make([]Difference, len(differs))
	for i, d := range differs {
		list[i] = Difference{d.Path, harmless(method, d.Path, d.Want), harmless(method, d.Path, d.Got)}
	}
	return list
}

// harmless returns a value without the secrets in it, to be told of.
func harmless(method, path, value string) string {
	if value == "" {
		return ""
	}
	path = strings.ReplaceAll(path, `"`, "") // around the names of members that have dots
	return string(redact.Field(method, path, []byte(value)))
}
