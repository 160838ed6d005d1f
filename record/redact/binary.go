package redact

import "bytes"

// isBinary reports whether a text is the base64 of an image or the like: it is longer than
// any token, and may match the form of one by chance.
func isBinary(s []byte) bool {
	const longest = judged
	if len(s) <= longest {
		return false
	}
	for _, c := range bytes.TrimRight(s, "=") {
		if !base64Bytes[c] {
			return false
		}
	}
	return true
}

// base64Bytes are the bytes of both alphabets of RFC 4648, sections 4 and 5.
var base64Bytes = func() (is [256]bool) {
	for c := range 256 {
		is[c] = base64Chars.has(byte(c)) && c != '=' || c == '-' || c == '_'
	}
	return is
}()
