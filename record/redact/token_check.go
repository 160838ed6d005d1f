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

// isNoWord takes what has a digit, or capitals among small letters.
func isNoWord(s []byte) bool { return hasDigit(s) || has(s, isUpper) && has(s, isLower) }

func hasPercent(s []byte) bool { return bytes.IndexByte(s, '%') >= 0 }

// isSample reports whether a token is only the form of one, as in a text that explains it:
// most of it is the same letter, or it says EXAMPLE.
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

// isJWT takes what follows eyJ, which is {" in base64: with it both the header
// and the payload of a JWT begin. Other base64 of JSON may be a cursor.
func isJWT(s []byte) bool { return bytes.Contains(s, []byte(".eyJ")) }

// isJWTOfAny takes what follows ey, which is { in base64. More must be a JWT's than the
// second ey, which words have too.
func isJWTOfAny(s []byte) bool {
	header, rest, ok := bytes.Cut(s, []byte(".ey"))
	return ok && len(header) >= 17 && hasDigitAndCase(header) && bytes.IndexByte(rest, '.') >= 17
}

// isAuthress takes the ids of a client and of its key, .acc_ and the id of the account, and the key.
func isAuthress(s []byte) bool {
	return bytes.Contains(s, []byte(".acc_")) || bytes.Contains(s, []byte(".acc-"))
}

// isDatabricks takes 32 hex digits, and possibly a dash and a digit.
func isDatabricks(s []byte) bool { return isHex(s[:32]) && (len(s) == 32 || s[32] == '-') }

// isEntra takes three characters and a digit before Q~.
func isEntra(s []byte) bool { return isDigit(s[3]) }

// hasDigits takes what has more digits than a name.
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

// isUUID takes 8-4-4-4-12 hex digits.
func isUUID(s []byte) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		all(s, func(c byte) bool { return c == '-' || isHexDigit(c) })
}

// isBase32 takes the rest of an id of AWS: A to Z and 2 to 7.
func isBase32(s []byte) bool {
	return all(s, func(c byte) bool { return isUpper(c) || '2' <= c && c <= '7' })
}

// beginsKeyID takes the rest of an id whose kind has one more letter or digit.
func beginsKeyID(s []byte) bool { return !isLower(s[0]) && isBase32(s[1:]) }

// isKeyPair takes the rest of an access key id of AWS and, behind a comma or a colon, its
// secret.
func isKeyPair(s []byte) bool {
	return len(s) == 57 && isBase32(s[:16]) && (s[16] == ',' || s[16] == ':') && !bytes.ContainsAny(s[17:], ",:")
}

// isUpperKey takes capitals and digits.
func isUpperKey(s []byte) bool {
	return hasDigit(s) && !has(s, isLower)
}

// isLowerKey takes small letters and digits.
func isLowerKey(s []byte) bool {
	return hasDigit(s) && !has(s, isUpper)
}

// beginsHex takes the vector that stands before an encrypted key in PEM.
func beginsHex(s []byte) bool { return isHex(s[:16]) && isArmor(s) }

// isArmor takes what has a long line of base64.
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

// isDiscord takes the rest of an id in base64, six characters of a time, and the MAC,
// between dots.
func isDiscord(s []byte) bool {
	dot := bytes.IndexByte(s, '.')
	return 18 <= dot && dot <= 26 && len(s) > dot+7 && s[dot+7] == '.' && bytes.Count(s, []byte(".")) == 2 && hasDigitAndCase(s)
}

// isTelegram takes the number of a bot before ":AA".
func isTelegram(s []byte) bool { return all(s[:bytes.IndexByte(s, ':')], isDigit) }

// isMailchimp takes a key and the number of its data centre.
func isMailchimp(s []byte) bool {
	return isHex(s[:32]) && all(s[len("-us")+32:], isDigit)
}

// isMaxMind takes 6_29_mmk.
func isMaxMind(s []byte) bool {
	return len(s) == 40 && s[6] == '_' && bytes.Count(s, []byte("_")) == 2 && hasDigit(s)
}

// isRapidAPI takes …msh…p1…jsn….
func isRapidAPI(s []byte) bool { return bytes.Contains(s, []byte("jsn")) && isLowerKey(s) }

// isAirtable takes an id and 64 hex digits.
func isAirtable(s []byte) bool { return s[14] == '.' && isHex(s[15:]) }

// isAzureStorage takes 76 characters, +ASt, and the rest.
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
