package redact

import (
	"bytes"
	"slices"
)

// isReference reports whether a value after a name is not a secret but refers to one.
func isReference(value, name []byte) bool {
	letters := bytes.ToLower(bytes.TrimSpace(value))
	switch {
	case len(letters) == 0, bytes.EqualFold(value, name), noValues.have(letters):
		return true
	case len(name) > 3 && len(value) > len(name) && value[len(value)-len(name)-1] == '.' && bytes.EqualFold(value[len(value)-len(name):], name): // other.password
		return true
	case bytes.EqualFold(name, []byte("pwd")) || bytes.EqualFold(name, []byte("oldpwd")):
		return letters[0] == '/' || letters[0] == '~' || len(letters) > 1 && letters[1] == ':'
	}
	if letters[0] == '%' && (len(letters) < 4 || letters[len(letters)-1] == '%') {
		return true
	}
	return slices.ContainsFunc(references, func(begin string) bool { return bytes.HasPrefix(letters, []byte(begin)) }) ||
		len(bytes.Trim(letters, "x*.•-_")) == 0
}

// looksSecret distinguishes passwords and keys from the words and numbers of prose and
// code.
func looksSecret(s []byte) bool { return hasDigit(s) && slices.ContainsFunc(s, isLetter) }

// isStrong reports whether a value after a short flag can hardly be anything but a
// secret: it is long, has letters and digits, and is not a name, path or address.
func isStrong(s []byte) bool {
	return len(s) >= 12 && looksSecret(s) && !bytes.ContainsAny(s, "./:\\ @,=")
}

// likePassword distinguishes passwords and keys from the other words of prose: they have
// letters and digits, and are not a version, measure, path or name of a standard.
func likePassword(word []byte) bool {
	if len(word) < 6 || len(word) > 512 || !looksSecret(word) || bytes.ContainsAny(word, "./:\\()[]{}<>|,;=`\" \t\r\n") || isReference(word, nil) {
		return false
	}
	if rest := bytes.TrimLeft(word, "0123456789"); len(rest) < len(word) && rest[0] == '-' && len(bytes.Trim(rest, "-abcdefghijklmnopqrstuvwxyz0123456789")) == 0 {
		return false // 32-byte, 8-20
	}
	return !standards.have(bytes.Map(func(c rune) rune {
		if c < 0x80 && isLetter(byte(c)) {
			return c
		}
		return -1
	}, word))
}

// isPhrase reports whether a value is a passphrase: four words or more, and none of those
// that join the words of prose.
func isPhrase(value []byte) bool {
	all := bytes.Fields(value)
	return len(all) > 3 && !slices.ContainsFunc(all, func(word []byte) bool {
		return len(word) < 3 || joiners.have(word) || slices.ContainsFunc(word, func(c byte) bool { return !isLetter(c) && !isDigit(c) })
	})
}

// isIssued reports whether a value has the form of a key: a prefix of an issuer, even if the
// rest is shorter than usual, or digits and letters of both cases or of hex that are not a
// name or path.
func isIssued(value []byte) bool {
	const short, long, longHex = 6, 16, 32
	if len(value) < 3 || len(value) > 1<<10 || isSample(value) || bytes.ContainsAny(value, " /:\\,@") {
		return false
	}
	x := indexOfTokens()
	for at := x.first[tokenKey(value[0], value[1], value[2])]; at != 0; at = x.chain[at-1].next {
		rest, ok := bytes.CutPrefix(value, []byte(x.chain[at-1].form.prefix))
		if ok && len(rest) >= short && hasDigit(rest) {
			return true
		}
	}
	if len(value) >= longHex && looksSecret(value) && len(bytes.Trim(value, "0123456789abcdefABCDEF")) == 0 {
		return true
	}
	return len(value) >= long && hasDigitAndCase(value) && bytes.IndexByte(value, '.') < 0
}

// isNumericSecret reports whether a value of digits is secret: with enough of them, under
// the name of something that people type.
func isNumericSecret(name, value []byte) bool {
	if len(value) < 4 && !(len(value) == 3 && isCardCode(name)) || !isDigits(value) {
		return false
	}
	return !numberless.end(name)
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

// isBinary reports whether a text is the base64 of an image or other binary data: it is
// longer than any token, and may match the form of one by chance.
func isBinary(s []byte) bool {
	const longest = judged
	return len(s) > longest && !slices.ContainsFunc(bytes.TrimRight(s, "="), func(c byte) bool { return !base64Bytes[c] })
}

// base64Bytes are the bytes of both alphabets of RFC 4648, sections 4 and 5.
var base64Bytes = func() (is [256]bool) {
	for c := range 256 {
		is[c] = base64Chars.has(byte(c)) && c != '=' || c == '-' || c == '_'
	}
	return is
}()

func hasDigitAndCase(s []byte) bool {
	return hasDigit(s) && slices.ContainsFunc(s, isUpper) && slices.ContainsFunc(s, isLower)
}

func hasDigit(s []byte) bool { return bytes.ContainsAny(s, "0123456789") }
func isDigits(s []byte) bool { return len(bytes.Trim(s, "0123456789")) == 0 }
