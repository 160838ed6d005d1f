package redact

import (
	"bytes"
	"slices"
	"strings"
)

// secretNames are the last words of names of secrets, in lower case and without separators.
var secretNames = [...]string{
	"password", "passwd", "passphrase", "passcode", "pwd", "secret", "authorization", "cookie", "credential", "creds",
	"jwt", "bearer", "totp", "otpcode", "mfacode", "seedphrase", "mnemonic", "connectionstring", "connstr", "sastoken", "webhookurl",
	"passwordhash", "secretkeybase", "passwort", "kennwort",
}

// keyNames precede "key" in the names of secrets. Other keys are those of maps, tables and
// keyboards.
var keyNames = [...]string{
	"api", "access", "private", "proxy", "secret", "signing", "signature", "encryption", "decryption", "master", "ssh", "license",
	"auth", "app", "application", "subscription", "account", "storage", "deploy", "service", "shared", "hmac", "cipher", "webhook",
	"integration", "ingestion", "instrumentation", "consumer", "client", "admin", "pgp", "gpg", "rsa", "jwt", "write", "root", "session",
}

// openTokens precede "token" in names that are not secret: the progress of a request, the
// place in a long list, words of a text.
var openTokens = [...]string{
	"progress", "page", "next", "continuation", "cancellation", "cancel", "sync", "max", "min", "total", "input", "output", "per", "stop",
	"eos", "bos", "pad", "unk", "mask", "special", "prev", "previous", "last", "resume", "begin", "end", "start", "design", "syntax",
}

// tokenKinds precede "tokens" in the names of several secrets. Other tokens are counts.
var tokenKinds = [...]string{"access", "api", "auth", "bearer", "refresh", "personal", "session", "csrf", "secret"}

// tailWords may follow the name of a secret, which it remains.
var tailWords = [...]string{
	"value", "string", "text", "base64", "b64", "plain", "plaintext", "raw", "confirmation", "confirm", "again", "data", "pem", "bytes",
	"primary", "secondary", "prod", "dev", "staging", "test", "current", "old", "new",
}

// statements begin names that say something about a secret.
var statements = [...]string{"has", "is", "no", "requires", "require", "needs", "supports", "support", "allow", "allows", "show", "hide", "forgot", "uses"}

// isSecret reports whether a member, variable or argument of that name is a secret.
func isSecret(name []byte) bool {
	name = bytes.TrimLeft(name, "-_.")
	if len(name) > 64 {
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
	if first > 0 && oneOf(letters[:first], statements[:]) {
		return false
	}
	letters = bytes.TrimRight(letters, "0123456789")
	if last > 0 && last < len(letters) && oneOf(letters[last:], tailWords[:]) && !namesSecret(letters) {
		letters = letters[:last]
		last = 0
	}
	switch word := letters[min(last, len(letters)):]; {
	case oneOf(word, []string{"pass", "psk", "otp", "pat", "dsn"}) && (last > 0 || len(word) != 4 || len(letters) == 4):
		return true
	case oneOf(letters, []string{"auth", "basicauth", "httpauth", "proxyauth", "registryauth", "accountkey", "sig"}):
		return true
	}
	if namesSecret(letters) {
		return true
	}
	one, plural := bytes.CutSuffix(letters, []byte("s"))
	if !plural || bytes.HasSuffix(one, []byte("token")) {
		before, ok := bytes.CutSuffix(letters, []byte("tokens"))
		return ok && endsWith(before, tokenKinds[:])
	}
	return namesSecret(one)
}

// namesSecret is isSecret for a name in one lower-case word.
func namesSecret(letters []byte) bool {
	if endsWith(letters, secretNames[:]) {
		return true
	}
	if before, ok := bytes.CutSuffix(letters, []byte("key")); ok && endsWith(before, keyNames[:]) {
		return true
	}
	before, ok := bytes.CutSuffix(letters, []byte("token"))
	return ok && !endsWith(before, openTokens[:])
}

func endsWith(s []byte, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return len(s) >= len(end) && string(s[len(s)-len(end):]) == end })
}

func oneOf(s []byte, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return string(s) == word })
}

// ofSecret reports whether a member of a secret object describes it, such as its kind, and
// is not secret itself.
func ofSecret(name string) bool {
	if holdsID(name) {
		return true
	}
	switch strings.ToLower(name) {
	case "name", "type", "kind", "description", "title", "username", "user", "login", "email", "host", "hostname", "url", "uri", "domain", "path",
		"scope", "scopes", "method", "format", "provider", "region", "algorithm", "alg", "$ref", "key", "label", "status", "created", "expires",
		"createdat", "expiresat", "samesite", "in", "scheme", "enum", "required":
		return true
	}
	return false
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
