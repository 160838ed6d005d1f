package compare

import (
	"regexp"
	"strings"

	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// withSecretsAlike removes from each list the secrets that were removed from the other: it
// replaces a line that matches a redacted line of the other list by that line.
func withSecretsAlike(a, b []string) (_, _ []string) {
	return withSecretsOf(a, b), withSecretsOf(b, a)
}

// withSecretsOf returns lines, with each line that matches a redacted line of others
// replaced by that line.
func withSecretsOf(lines, others []string) []string {
	var patterns []*regexp.Regexp
	var texts []string
	same := make(map[string]bool, len(others))
	for _, text := range others {
		if !same[text] && strings.Contains(text, redact.Placeholder) {
			patterns, texts = append(patterns, rpc.Pattern(text, rpc.AnyText)), append(texts, text)
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
