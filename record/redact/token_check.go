package redact

import (
	"bytes"
	"slices"
)

// tokenChecks are the checks by their names in token_forms.txt.
var tokenChecks = map[string]func(secret []byte) bool{
	"beginsHex":       beginsHex,
	"beginsKeyID":     beginsKeyID,
	"hasDigit":        hasDigit,
	"hasDigitAndCase": hasDigitAndCase,
	"hasDigits":       hasDigits,
	"hasPercent":      hasPercent,
	"isAirtable":      isAirtable,
	"isArmor":         isArmor,
	"isAuthress":      isAuthress,
	"isAzureStorage":  isAzureStorage,
	"isBase32":        isBase32,
	"isDatabricks":    isDatabricks,
	"isDiscord":       isDiscord,
	"isEntra":         isEntra,
	"isHex":           isHex,
	"isJWT":           isJWT,
	"isJWTOfAny":      isJWTOfAny,
	"isKeyPair":       isKeyPair,
	"isLowerKey":      isLowerKey,
	"isMailchimp":     isMailchimp,
	"isMaxMind":       isMaxMind,
	"isNoWord":        isNoWord,
	"isRapidAPI":      isRapidAPI,
	"isStackHawk":     isStackHawk,
	"isTelegram":      isTelegram,
	"isUUID":          isUUID,
	"isUpperKey":      isUpperKey,
}

func hasDigitAndCase(s []byte) bool {
	return hasDigit(s) && has(s, isUpper) && has(s, isLower)
}

// isNoWord accepts what has a digit, or both upper and lower case.
func isNoWord(s []byte) bool { return hasDigit(s) || has(s, isUpper) && has(s, isLower) }

func hasPercent(s []byte) bool { return bytes.IndexByte(s, '%') >= 0 }

// isSample reports whether a token is only an example of the form, as in a text that
// explains it: most of it is the same letter, or it says EXAMPLE.
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

// isJWT accepts what follows eyJ, which is {" in base64: both the header and the payload of
// a JWT begin so. Other base64 of JSON may be a cursor.
func isJWT(s []byte) bool { return bytes.Contains(s, []byte(".eyJ")) }

// isJWTOfAny accepts what follows ey, which is { in base64. It asks for more than the
// second ey, since words have that too.
func isJWTOfAny(s []byte) bool {
	header, rest, ok := bytes.Cut(s, []byte(".ey"))
	return ok && len(header) >= 17 && hasDigitAndCase(header) && bytes.IndexByte(rest, '.') >= 17
}

// isAuthress accepts the ids of a client and of its key, .acc_ and the id of the account,
// and the key.
func isAuthress(s []byte) bool {
	return bytes.Contains(s, []byte(".acc_")) || bytes.Contains(s, []byte(".acc-"))
}

// isDatabricks accepts 32 hex digits, optionally with a dash and a digit.
func isDatabricks(s []byte) bool { return isHex(s[:32]) && (len(s) == 32 || s[32] == '-') }

// isEntra accepts three characters and a digit before Q~.
func isEntra(s []byte) bool { return isDigit(s[3]) }

// hasDigits accepts what has more digits than a name.
func hasDigits(s []byte) bool {
	digits := 0
	for _, c := range s {
		if isDigit(c) {
			digits++
		}
	}
	return digits >= 3
}

func isHex(s []byte) bool { return all(s, isHexDigit) }

// isUUID accepts 8-4-4-4-12 hex digits.
func isUUID(s []byte) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		all(s, func(c byte) bool { return c == '-' || isHexDigit(c) })
}

// isBase32 accepts the rest of an AWS id: A to Z and 2 to 7.
func isBase32(s []byte) bool {
	return all(s, func(c byte) bool { return isUpper(c) || '2' <= c && c <= '7' })
}

// beginsKeyID accepts the rest of an id whose kind has one more letter or digit.
func beginsKeyID(s []byte) bool { return !isLower(s[0]) && isBase32(s[1:]) }

// isKeyPair accepts the rest of an AWS access key id and, after a comma or a colon, its
// secret.
func isKeyPair(s []byte) bool {
	return len(s) == 57 && isBase32(s[:16]) && (s[16] == ',' || s[16] == ':') && !bytes.ContainsAny(s[17:], ",:")
}

// isUpperKey accepts capitals and digits.
func isUpperKey(s []byte) bool {
	return hasDigit(s) && !has(s, isLower)
}

// isLowerKey accepts lower-case letters and digits.
func isLowerKey(s []byte) bool {
	return hasDigit(s) && !has(s, isUpper)
}

// beginsHex accepts the initialization vector that precedes an encrypted key in PEM.
func beginsHex(s []byte) bool { return isHex(s[:16]) && isArmor(s) }

// isArmor accepts what has a long line of base64.
func isArmor(s []byte) bool {
	n := 0
	for _, c := range s {
		switch {
		case base64Chars.has(c):
			if n++; n == 40 {
				return true
			}
		default:
			n = 0
		}
	}
	return false
}

// isDiscord accepts the rest of an id in base64, six characters of a time, and the MAC,
// separated by dots.
func isDiscord(s []byte) bool {
	dot := bytes.IndexByte(s, '.')
	return 18 <= dot && dot <= 26 && len(s) > dot+7 && s[dot+7] == '.' && bytes.Count(s, []byte(".")) == 2 && hasDigitAndCase(s)
}

// isTelegram accepts the number of a bot before ":AA".
func isTelegram(s []byte) bool { return all(s[:bytes.IndexByte(s, ':')], isDigit) }

// isMailchimp accepts a key and the number of its data centre.
func isMailchimp(s []byte) bool {
	return isHex(s[:32]) && all(s[len("-us")+32:], isDigit)
}

// isMaxMind accepts 6_29_mmk.
func isMaxMind(s []byte) bool {
	return len(s) == 40 && s[6] == '_' && bytes.Count(s, []byte("_")) == 2 && hasDigit(s)
}

// isRapidAPI accepts …msh…p1…jsn….
func isRapidAPI(s []byte) bool { return bytes.Contains(s, []byte("jsn")) && isLowerKey(s) }

// isAirtable accepts an id and 64 hex digits.
func isAirtable(s []byte) bool { return s[14] == '.' && isHex(s[15:]) }

// isAzureStorage accepts 76 characters, +ASt, and the rest.
func isAzureStorage(s []byte) bool { return s[76] == '+' && bytes.HasSuffix(s, []byte("==")) }

func isStackHawk(s []byte) bool { return s[20] == '.' && hasDigit(s) }

func has(s []byte, is func(byte) bool) bool {
	for _, c := range s {
		if is(c) {
			return true
		}
	}
	return false
}

func all(s []byte, is func(byte) bool) bool {
	for _, c := range s {
		if !is(c) {
			return false
		}
	}
	return true
}

func isHexDigit(c byte) bool { return isDigit(c) || 'a' <= lower(c) && lower(c) <= 'f' }
