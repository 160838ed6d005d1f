package redact

import (
	"bytes"
	"strings"
)

// stems has a part of each secret's name that prose uses.
var stems = [...]string{"assw", "ecret", "oken", "key", "Key", " pin ", "PIN", "phrase", " code", "redentials"}

// mentions looks for secrets that prose states: "the password is …", "use token …".
func (s *search) mentions() {
	for _, stem := range stems {
		if !s.contains(stem) {
			continue
		}
		for i := 0; ; {
			n := bytes.Index(s.text[i:], []byte(stem))
			if n < 0 {
				break
			}
			i += n + len(stem)
			name := phraseAround(s.text, i-1, stem)
			if name.from == name.to {
				continue
			}
			if at := s.mentioned(name); at.from < at.to {
				s.add(at.from, at.to)
			}
		}
	}
}

// phraseAround returns the name of a secret whose last word is at t[i], where stem was
// found, or an empty span if there is none. A code is secret only together with the word
// before it.
func phraseAround(t []byte, i int, stem string) span {
	for i > 0 && t[i] == ' ' {
		i--
	}
	to := i
	for to < len(t) && isNameByte(t[to]) && to-i < 64 {
		to++
	}
	from := to
	for from > 0 && isNameByte(t[from-1]) && to-from < 64 {
		from--
	}
	if from == to {
		return span{}
	}
	if begin := phraseBegin(t, 0, from, to); begin < to {
		return span{begin, to}
	}
	if stem == " code" {
		return span{}
	}
	if isSecret(t[from:to]) || isPIN(t[from:to]) {
		return span{from, to}
	}
	return span{}
}

// phraseBegin returns where the name of several words begins that ends with t[from:to], such
// as "API key"; to if the word ends none.
func phraseBegin(t []byte, least, from, to int) int {
	word := t[from:to]
	if from < least+3 || t[from-1] != ' ' || len(word) > 6 {
		return to
	}
	before := t[max(least, from-24) : from-1]
	for i := range phrases {
		if !endsWithFold(word, phrases[i].end) {
			continue
		}
		for _, begin := range phrases[i].begins {
			if n := len(before) - len(begin); endsWithFold(before, begin) && beginsWord(before, n) {
				return from - 1 - len(begin)
			}
		}
	}
	return to
}

// endsWithFold reports whether s ends with a text of lower case, in any case.
func endsWithFold(s []byte, end string) bool {
	n := len(s) - len(end)
	return n >= 0 && len(s) > 0 && lower(s[len(s)-1]) == end[len(end)-1] && bytes.EqualFold(s[n:], []byte(end))
}

// phrases are the names of secrets that have several words.
var phrases = [...]struct {
	end    string
	begins []string
}{{"key", keyNames[:]}, {"code", codeNames[:]}, {"phrase", []string{"seed", "recovery"}}, {"string", []string{"connection"}}, {"id", []string{"access key"}}}

// isSecretPhrase is isSecret for words with blanks between them.
func isSecretPhrase(words []byte) bool {
	return isSecret(bytes.ReplaceAll(words, []byte(" "), []byte("-"))) || isPIN(words)
}

// isPIN reports whether a name is one under which only numbers are secret.
func isPIN(name []byte) bool {
	for _, one := range [...]string{"pin", "cvv", "cvc", "pincode"} {
		if len(name) == len(one) && bytes.EqualFold(name, []byte(one)) {
			return true
		}
	}
	return false
}

// links are words between the name of a secret and the secret; onTheWay may be there too.
var (
	links    = [...]string{"is", "was", "to", "as", "be", "are", "=", "", "ist", "lautet"}
	onTheWay = [...]string{"has", "been", "should", "will", "must", "now", "still", "changed", "set", "reset", "updated", "rotated", "for", "of", "on", "the", "our", "my", "your", "this", "new"}
)

// mentioned returns the span of the secret that belongs to a name, or an empty span if
// the text has none.
func (s *search) mentioned(name span) span {
	const most = 8 // words
	t := s.text
	i := skipMarks(t, name.to)
	if i == name.to && i < len(t) && strings.IndexByte(" \t:=", t[i]) < 0 {
		return span{} // within a word
	}
	linked, others := false, 0
	for n := range most {
		word := nextWord(t, i)
		text := bytes.ToLower(bytes.TrimRight(t[word.from:word.to], ":"))
		switch {
		case word.from == word.to:
			return span{}
		case oneOf(text, links[:]):
			linked = true
		case oneOf(text, onTheWay[:]):
		case linked, n == 0:
			return s.told(t[name.from:name.to], word, linked)
		default: // the password for the server is
			if others++; others > 1 || strings.IndexByte(".,;", text[len(text)-1]) >= 0 {
				return span{}
			}
		}
		i = word.to
	}
	return span{}
}

// told returns the part of a word that is the secret.
func (s *search) told(name []byte, word span, linked bool) (at span) {
	t := s.text
	quote := word.from
	for quote < word.to && t[quote] == '*' {
		quote++
	}
	for _, q := range []struct{ open, end string }{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}, {`\"`, `\"`}} {
		text, ok := bytes.CutPrefix(t[quote:], []byte(q.open))
		if !ok {
			continue
		}
		n := bytes.Index(head(near(text), "\r\n"), []byte(q.end))
		if n < 0 {
			return span{}
		}
		value := text[:n]
		from := len(t) - len(text)
		if isReference(value, name) || n < 3 || !likePassword(value) && (!isPassword(name) || isIdentifier(name) || isSecret(value) || bytes.ContainsAny(value, "()./") || !linked && bytes.IndexByte(value, ' ') >= 0) {
			return span{}
		}
		return span{from, from + n}
	}
	from := word.from + len(t[word.from:word.to]) - len(bytes.TrimLeft(t[word.from:word.to], "*_(<"))
	to := from + len(bytes.TrimRight(t[from:word.to], ".,;:!?)>*_"))
	if from >= to {
		return span{}
	}
	if linked && endsWith(bytes.ToLower(name), []string{"credentials"}) { // user / password
		line := head(near(t[from:]), "\r\n")
		if sign := bytes.IndexAny(line, "/:"); sign >= 0 {
			word := nextWord(t, from+sign+1)
			from, to = word.from, word.from+len(bytes.TrimRight(t[word.from:word.to], ".,;:!?)>*_`\""))
		}
	}
	value := t[from:to]
	switch {
	case isNumericSecret(name, value) && linked && !goesOn(t[to:]):
		return span{from, to}
	case isReference(value, name), !likePassword(value):
		return span{}
	case isPassword(name), linked && len(value) >= 8, isStrong(value):
		return span{from, to}
	}
	return span{}
}

// goesOn reports whether a word follows without a sign in between: 123456 lines.
func goesOn(s []byte) bool { return len(s) > 1 && s[0] == ' ' && isLetter(s[1]) }

// isIdentifier reports whether a name is one of source code, such as createPassword.
func isIdentifier(name []byte) bool {
	return bytes.IndexByte(name, '_') >= 0 || bytes.ContainsFunc(name[1:], func(c rune) bool { return 'A' <= c && c <= 'Z' }) && !bytes.Equal(name, bytes.ToUpper(name))
}

// isPassword reports whether the name is for a secret that people choose, which may be a
// word.
func isPassword(name []byte) bool {
	letters := bytes.ToLower(name)
	return bytes.Contains(letters, []byte("pass")) || bytes.Contains(letters, []byte("secret")) || bytes.Contains(letters, []byte("cred")) || bytes.HasSuffix(letters, []byte("pwd"))
}

// skipMarks returns the place after closing quotes and marks of Markdown and HTML at t[i].
func skipMarks(t []byte, i int) int {
	for i < len(t) && strings.IndexByte("*_\"'`", t[i]) >= 0 {
		i++
	}
	if bytes.HasPrefix(t[i:], []byte("</")) {
		if n := bytes.IndexByte(t[i:min(len(t), i+16)], '>'); n > 0 {
			i += n + 1
		}
	}
	return i
}

// nextWord returns the next word of the line after t[i], up to a blank.
func nextWord(t []byte, i int) span {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	to := i
	for to < len(t) && strings.IndexByte(" \t\r\n|", t[to]) < 0 && to-i < 512 {
		to++
	}
	return span{i, to}
}

// isNumericSecret reports whether a value of digits is secret: with enough of them, under
// the name of something that people type.
func isNumericSecret(name, value []byte) bool {
	letters := bytes.ToLower(name)
	return len(value) >= 4 && isDigits(value) && !endsWith(letters, []string{"token", "cookie", "authorization", "s"})
}

// likePassword distinguishes passwords and keys from the other words of prose: they have
// letters and digits, and are not a version, measure, path or name of a standard.
func likePassword(word []byte) bool {
	if len(word) < 6 || len(word) > 512 || !looksSecret(word) || bytes.ContainsAny(word, "./:\\()[]{}<>|,;=`\" \t\r\n") || isReference(word, nil) {
		return false
	}
	if rest := bytes.TrimLeft(word, "0123456789"); len(rest) < len(word) && len(bytes.Trim(rest, "-abcdefghijklmnopqrstuvwxyz0123456789")) == 0 && bytes.IndexByte(rest, '-') == 0 {
		return false // 32-byte, 8-20
	}
	letters := bytes.Map(func(c rune) rune {
		if c < 0x80 && isLetter(byte(c)) {
			return rune(lower(byte(c)))
		}
		return -1
	}, word)
	return !oneOf(letters, standards[:])
}

// standards are the letters of names that have digits too, such as SHA-256 and OAuth2.
var standards = [...]string{
	"sha", "hmacsha", "shahmac", "hmac", "base", "baseencoded", "baseurl", "utf", "utfencoded", "aes", "aesgcm", "aescbc", "aesctr", "oauth", "openid", "rsa", "rsasha", "ecdsa", "ed", "ipv", "iso", "rfc", "pkcs", "argon", "argonid",
	"blake", "blakeb", "blakes", "bcrypt", "pbkdf", "md", "chacha", "chachapoly", "curve", "secpk", "secpr", "fido", "webauthn", "windows", "python", "step", "page", "line", "chapter", "section", "part", "version", "level", "field", "column", "kubernetes",
	"reset", "resetfa", "auth", "authfa", "token", "tokens", "password", "secret", "test", "user", "example", "item", "value", "vbeta", "valpha", "http", "https", "socks", "cl", "clk", "gpt", "gptmini", "claude",
}
