package redact

import (
	"bytes"
	"slices"
)

// tokenChecks are the checks of token_forms.txt that are not expressions there.
var tokenChecks = map[string]func(secret []byte) bool{
	"hasDigit":        hasDigit,
	"hasDigitAndCase": hasDigitAndCase,
	"isJWTOfAny":      isJWTOfAny,
}

func hasDigitAndCase(s []byte) bool {
	return hasDigit(s) && slices.ContainsFunc(s, isUpper) && slices.ContainsFunc(s, isLower)
}

// isJWTOfAny accepts what follows ey, which is { in base64. It asks for more than the
// second ey, since words have that too.
func isJWTOfAny(s []byte) bool {
	header, rest, ok := bytes.Cut(s, []byte(".ey"))
	return ok && len(header) >= 17 && hasDigitAndCase(header) && bytes.IndexByte(rest, '.') >= 17
}

// isSample reports whether a token is only an example of the form, as in explanatory
// text: most of it is the same letter, or it says EXAMPLE.
func isSample(s []byte) bool {
	if bytes.Contains(s, []byte("EXAMPLE")) {
		return true
	}
	var count [256]int
	for _, c := range s {
		count[c]++
	}
	return 2*slices.Max(count[:]) > len(s)
}
