package redact

import "bytes"

// tokenChecks are the checks of token_forms.txt that are not expressions there.
var tokenChecks = map[string]func(secret []byte) bool{
	"hasDigit":        hasDigit,
	"hasDigitAndCase": hasDigitAndCase,
	"isJWTOfAny":      isJWTOfAny,
}

// isJWTOfAny accepts what follows ey, which is { in base64. It asks for more than the
// second ey, since words have that too.
func isJWTOfAny(s []byte) bool {
	header, rest, ok := bytes.Cut(s, []byte(".ey"))
	return ok && len(header) >= 17 && hasDigitAndCase(header) && bytes.IndexByte(rest, '.') >= 17
}
