package redact

import (
	"bytes"
	"strings"
)

// isSecret reports whether a member, variable or argument of that name is a secret.
func isSecret(name []byte) bool {
	for len(name) > 0 && (name[0] == '-' || name[0] == '_' || name[0] == '.') {
		name = name[1:]
	}
	if len(name) < len("pw") || len(name) > 64 {
		return false
	}
	var buf [64]byte
	letters := buf[:0]
	var first, last int // the end of the first word, and the beginning of the last
	for i, c := range name {
		begins := i > 0 && (isUpper(c) && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])) || !isLetter(name[i-1]) && !isDigit(name[i-1]))
		switch {
		case isLetter(c), isDigit(c):
			if begins && len(letters) > 0 {
				if last = len(letters); first == 0 {
					first = last
				}
			}
			letters = append(letters, lower(c))
		case c != '-' && c != '_' && c != '.':
			return false
		}
	}
	if first > 0 && statements.have(letters[:first]) {
		return false
	}
	letters = trimEnd(letters, "0123456789")
	if last > 0 && last < len(letters) && tailWords.have(letters[last:]) && !namesSecret(letters) {
		letters, last = letters[:last], 0
	}
	switch word := letters[min(last, len(letters)):]; {
	case shortSecrets.have(word) && (last > 0 || len(word) != 4 || len(letters) == 4), wholeSecrets.have(letters), namesSecret(letters):
		return true
	}
	one, plural := bytes.CutSuffix(letters, []byte("s"))
	if before, tokens := bytes.CutSuffix(one, []byte("token")); plural && tokens {
		return tokenKinds.end(before)
	}
	return plural && namesSecret(one)
}

// namesSecret is isSecret for a name in one lower-case word.
func namesSecret(letters []byte) bool {
	if secretWords.end(letters) {
		return true
	}
	if before, ok := bytes.CutSuffix(letters, []byte("key")); ok {
		return keyWords.end(before)
	}
	if before, ok := bytes.CutSuffix(letters, []byte("code")); ok {
		return codeWords.end(before)
	}
	before, ok := bytes.CutSuffix(letters, []byte("token"))
	return ok && !openTokens.end(before)
}

// isSecretPhrase is isSecret for words with blanks between them.
func isSecretPhrase(words []byte) bool {
	return isSecret(bytes.ReplaceAll(words, []byte(" "), []byte("-"))) || isPIN(words)
}

// phraseBegin returns where the name of two or three words begins that ends with t[from:to],
// such as "API key"; to if the word ends none.
func phraseBegin(t []byte, least, from, to int) int {
	if !phraseEnds.have(t[from:to]) {
		return to
	}
	for range 2 {
		begin := from - 1
		for begin > least && isNameByte(t[begin-1]) && to-begin < 32 {
			begin--
		}
		if begin < least || begin >= from-1 || t[from-1] != ' ' {
			return to
		}
		if from = begin; isSecretPhrase(t[from:to]) {
			return from
		}
	}
	return to
}

// isPIN reports whether a name is one under which only numbers are secret.
func isPIN(name []byte) bool {
	return pinWords.have(name[bytes.LastIndexAny(name, "_- ")+1:])
}

// isCardCode reports whether a name is that of the three digits on a card: CVV, CVC.
func isCardCode(name []byte) bool { return isPIN(name) && lower(name[len(name)-2]) == 'v' }

// isSomeKey reports whether a name is of a key that an issuer may have made, such as
// STRIPE_KEY: the value decides.
func isSomeKey(name []byte) bool {
	n := len(name) - len("key")
	if n < 2 || n > 61 || !equalFold(name[n:], "key") {
		return false
	}
	before := trimEnd(name[:n], "-_.")
	return len(before) >= 2 && !openKeys.end(before) && (len(before) < n || isUpper(name[n]))
}

// isPassword reports whether the name is for a secret that people choose, which may be a
// word.
func isPassword(name []byte) bool {
	letters := bytes.ToLower(name)
	return bytes.Contains(letters, []byte("pass")) || bytes.Contains(letters, []byte("secret")) || bytes.Contains(letters, []byte("cred")) || bytes.HasSuffix(letters, []byte("pwd"))
}

// isIdentifier reports whether a name is one of source code, such as createPassword.
func isIdentifier(name []byte) bool {
	return bytes.IndexByte(name, '_') >= 0 || bytes.ContainsFunc(name[1:], func(c rune) bool { return 'A' <= c && c <= 'Z' }) && !bytes.Equal(name, bytes.ToUpper(name))
}

// ofSecret reports whether a member of a secret object only describes it, such as its kind,
// and is not itself secret.
func ofSecret(name string) bool { return holdsID(name) || descriptions.have([]byte(name)) }

// isConnection reports whether a member of that name is a connection string, of which only
// a part is secret.
func isConnection(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	return name == "dsn" || strings.HasPrefix(name, "conn")
}

// holdsVariables reports whether a member of that name holds headers or environment
// variables: mcpServers, terminal/create and providers/set of ACP have them, and clients
// put them into _meta.
func holdsVariables(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "headers") || name == "env" || name == "environment"
}

// holdsID reports whether the value of a member of that name also occurs elsewhere on the
// tape, and so must stay the same.
func holdsID(name string) bool {
	return name == "id" || name == "method" || name == "progressToken" || strings.HasSuffix(name, "Id") && !strings.HasSuffix(name, "ccessKeyId") // of AWS
}

func isNameByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '-' || c == '_' }
func isLetter(c byte) bool   { return 'a' <= lower(c) && lower(c) <= 'z' }
func isUpper(c byte) bool    { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool    { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool    { return '0' <= c && c <= '9' }

func lower(c byte) byte {
	if isUpper(c) {
		c += 'a' - 'A'
	}
	return c
}
