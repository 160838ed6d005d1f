package redact

import (
	"bytes"
	"slices"
	"strings"
)

// secretNames are the last words of names of secrets, in lower case and without separators.
var secretNames = [...]string{
	"password", "passwd", "passphrase", "passcode", "pwd", "secret", "authorization", "cookie", "credential", "creds",
	"jwt", "bearer", "totp", "seedphrase", "recoveryphrase", "accesskeyid",
	"codeverifier", "clientassertion", "mnemonic", "connectionstring", "connstr", "sastoken", "webhookurl",
	"passwordhash", "secretkeybase", "passwort", "kennwort",
}

// keyNames precede "key" in the names of secrets. Other keys are those of maps, tables and
// keyboards.
var keyNames = [...]string{
	"api", "access", "private", "proxy", "secret", "signing", "signature", "encryption", "decryption", "master", "ssh", "license",
	"auth", "app", "application", "subscription", "account", "storage", "deploy", "service", "shared", "hmac", "cipher", "webhook",
	"integration", "ingestion", "instrumentation", "consumer", "client", "admin", "pgp", "gpg", "rsa", "jwt", "write", "root", "session",
}

// codeNames precede "code" in the names of secrets. Other codes are those of errors, countries
// and programs.
var codeNames = [...]string{
	"otp", "mfa", "2fa", "verification", "onetime", "one-time", "security", "recovery", "backup", "auth", "authorization", "access", "device", "login", "confirmation",
}

// openTokens precede "token" in names that are not secret: the progress of a request, the
// place in a long list, words of a text.
var openTokens = [...]string{
	"progress", "page", "next", "continuation", "cancellation", "cancel", "sync", "max", "min", "total", "input", "output", "per", "stop",
	"eos", "bos", "pad", "unk", "mask", "special", "prev", "previous", "last", "resume", "begin", "end", "start", "design", "syntax",
}

// tokenKinds precede "tokens" in the names of several secrets. Other tokens are counts.
var tokenKinds = [...]string{"access", "api", "auth", "bearer", "refresh", "personal", "session", "csrf", "secret"}

// tailWords may follow the name of a secret without changing that it is one.
var tailWords = [...]string{
	"value", "string", "text", "base64", "b64", "plain", "plaintext", "raw", "confirmation", "confirm", "again", "data", "pem", "bytes",
	"primary", "secondary", "prod", "dev", "staging", "test", "current", "old", "new",
}

// statements begin names that say something about a secret.
var statements = [...]string{"has", "is", "no", "requires", "require", "needs", "supports", "support", "allow", "allows", "show", "hide", "forgot", "uses"}

// isSecret reports whether a member, variable or argument of that name is a secret.
func isSecret(name []byte) bool {
	for len(name) > 0 && (name[0] == '-' || name[0] == '_' || name[0] == '.') {
		name = name[1:]
	}
	if len(name) < len("otp") || len(name) > 64 {
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
	letters = trimEnd(letters, "0123456789")
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
	if endsWith(letters, secretEnds[ends(letters)]) {
		return true
	}
	if before, ok := bytes.CutSuffix(letters, []byte("key")); ok {
		return endsWith(before, keyNames[:])
	}
	if before, ok := bytes.CutSuffix(letters, []byte("code")); ok {
		return endsWith(before, codeNames[:])
	}
	before, ok := bytes.CutSuffix(letters, []byte("token"))
	return ok && !endsWith(before, openTokens[:])
}

// secretEnds are the secretNames by their last letter.
var secretEnds = func() (by ['z' - 'a' + 1][]string) {
	for _, name := range secretNames {
		by[ends([]byte(name))] = append(by[ends([]byte(name))], name)
	}
	return by
}()

// ends returns the index in secretEnds of the names that end with the last letter of letters.
func ends(letters []byte) int {
	if n := len(letters); n > 0 && isLower(letters[n-1]) {
		return int(letters[n-1] - 'a')
	}
	return int('q' - 'a') // with which none ends
}

func endsWith(s []byte, ends []string) bool {
	for _, end := range ends {
		if n := len(s) - len(end); n >= 0 && s[len(s)-1] == end[len(end)-1] && string(s[n:]) == end {
			return true
		}
	}
	return false
}

func oneOf(s []byte, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return string(s) == word })
}

// openKeys precede "key" in names of what is public, or finds something.
var openKeys = [...]string{
	"public", "publishable", "primary", "foreign", "sort", "sorting", "partition", "cache", "hot", "query", "row", "column", "object", "map", "group", "unique",
	"idempotency", "hash", "translation", "index", "lookup", "storage", "search", "state", "react", "bucket", "sthree", "message", "routing", "range", "item", "color",
}

// isSomeKey reports whether a name is of a key that an issuer may have made, such as
// STRIPE_KEY: the value decides.
func isSomeKey(name []byte) bool {
	if n := len(name); n < 5 || n > 64 || lower(name[n-3]) != 'k' || lower(name[n-2]) != 'e' || lower(name[n-1]) != 'y' {
		return false
	}
	before := bytes.TrimRight(bytes.ToLower(name[:len(name)-len("key")]), "-_.")
	return len(before) >= 2 && !endsWith(before, openKeys[:]) && (len(before)+len("key") < len(name) || isUpper(name[len(before)]))
}

// isIssued reports whether a value has the form of a key: an issuer's prefix, even if it is
// shorter than the issuer's are, or digits and letters of both cases that are no name or path.
func isIssued(value []byte) bool {
	const short, long = 6, 16
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
	return len(value) >= long && hasDigitAndCase(value) && bytes.IndexByte(value, '.') < 0
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
