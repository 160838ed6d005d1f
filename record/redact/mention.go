package redact

import (
	"bytes"
	"strings"
)

// stems has a part of each secret's name that prose uses.
var stems = [...]string{
	"assw", "ecret", "oken", "key", "Key", " pin ", "PIN", "PUK", "phrase", " code", "redentials", "ASSW", "ECRET", "OKEN", "KEY", " pw", " PW",
	"cvv", "CVV", "cvc", "CVC", "ennwort", "wachtwoord", " senha", " passe",
}

// mentions looks for secrets that prose states: "the password is …", "use token …", "use …
// as the password".
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
			at := s.mentioned(name)
			if at.from == at.to {
				at = s.mentionedBefore(name)
			}
			if at.from < at.to {
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

// mentioned returns the span of the secret that belongs to a name, or an empty span if
// the text has none.
func (s *search) mentioned(name span) span {
	const most, mostOthers = 10, 2 // words
	t := s.text
	i := skipMarks(t, name.to, "*_\"'`")
	if i == name.to && i < len(t) && strings.IndexByte(" \t:=", t[i]) < 0 {
		return span{} // within a word
	}
	linked, far, others := false, false, 0
	for n := range most {
		word := nextWord(t, i)
		text := bytes.ToLower(bytes.TrimRight(t[word.from:word.to], ":"))
		switch {
		case word.from == word.to:
			return span{}
		case len(text) == 0, links.have(text):
			linked = true
		case onTheWay.have(text):
		case linked:
			if value := withoutMarks(t, word); far && !likePassword(t[value.from:value.to]) {
				return span{}
			}
			return s.told(t[name.from:name.to], word, true)
		case places.have(text):
			far = true
		case n > 0 && t[word.to-1] == ':': // the password for the server:
			linked = true
		default: // the password for the server is
			if n == 0 && t[word.to-1] != ':' {
				if at := s.told(t[name.from:name.to], word, false); at.from < at.to || descriptions.have(text) {
					return at
				}
				far = true
			}
			if others++; others > mostOthers || strings.IndexByte(".,;?!)", text[len(text)-1]) >= 0 {
				return span{}
			}
		}
		i = word.to
	}
	return span{}
}

// mentionedBefore returns the span of the secret that precedes its name, as in "use … as the
// root password" and "… is my password", or an empty span if none does.
func (s *search) mentionedBefore(name span) span {
	const most = 3 // words between
	t := s.text
	after := nextWord(t, skipMarks(t, name.to, "*_\"'`"))
	if text := bytes.ToLower(t[after.from:after.to]); len(text) > 0 && after.from > name.to && isLetter(text[0]) && !onTheWay.have(text) {
		return span{} // is the password hash
	}
	if isIdentifier(t[name.from:name.to]) && bytes.IndexByte(t[name.from:name.to], ' ') < 0 {
		return span{}
	}
	others := 0
	for word := lastWord(t, name.from); word.from < word.to && word.to > name.from-64; word = lastWord(t, word.from) {
		text := bytes.ToLower(t[word.from:word.to])
		if equates.have(text) || others > 0 && states.have(text) {
			value := withoutMarks(t, lastWord(t, word.from))
			secret := t[value.from:value.to]
			if likePassword(secret) && (isPassword(t[name.from:name.to]) || isStrong(secret)) {
				return value
			}
			return span{}
		}
		if others++; others > most {
			return span{}
		}
	}
	return span{}
}

// accounts looks for the password behind a user: "log in as admin / …".
func (s *search) accounts() {
	const slash, most = " / ", 5 // words before
	if !s.contains(slash) {
		return
	}
	for i := 0; ; {
		n := bytes.Index(s.text[i:], []byte(slash))
		if n < 0 {
			return
		}
		user := lastWord(s.text, i+n)
		i += n + len(slash)
		value := withoutMarks(s.text, nextWord(s.text, i))
		if !likePassword(s.text[value.from:value.to]) {
			continue
		}
		word := user
		for range most {
			word = lastWord(s.text, word.from)
			if account := withoutMarks(s.text, word); accountWords.have(s.text[account.from:account.to]) {
				s.add(value.from, value.to)
				break
			}
		}
	}
}

// withoutMarks returns a word without the quotes and other marks around it.
func withoutMarks(t []byte, word span) span {
	to := word.from + len(bytes.TrimRight(t[word.from:word.to], "*_\"'`)>.,:;!?"))
	return span{to - len(bytes.TrimLeft(t[word.from:to], "*_\"'`(<")), to}
}

// told returns the part of a word that is the secret.
func (s *search) told(name []byte, word span, linked bool) (at span) {
	t := s.text
	if in, _, ok := quotedAt(t, skipMarks(t, word.from, "*")); ok {
		value := t[in.from:in.to]
		if isReference(value, name) || len(value) < 3 || !likePassword(value) && (!isPassword(name) || isIdentifier(name) || isSecret(value) || bytes.ContainsAny(value, "()./") || !linked && bytes.IndexByte(value, ' ') >= 0) {
			return span{}
		}
		return in
	}
	from := word.from + len(t[word.from:word.to]) - len(bytes.TrimLeft(t[word.from:word.to], "*_(<"))
	to := from + len(bytes.TrimRight(t[from:word.to], ".,;:!?)>*_"))
	if from >= to {
		return span{}
	}
	apart := false // the user and the password
	if linked && bytes.HasSuffix(bytes.ToLower(name), []byte("credentials")) {
		line := head(near(t[from:]), "\r\n")
		if sign := bytes.IndexAny(line, "/:"); sign >= 0 {
			apart = line[sign] == '/' && sign == to-from+1
			word := nextWord(t, from+sign+1)
			from, to = word.from, word.from+len(bytes.TrimRight(t[word.from:word.to], ".,;:!?)>*_`\""))
		}
	}
	value := t[from:to]
	switch {
	case isNumericSecret(name, value) && (linked || isCardCode(name)) && !goesOn(t[to:]):
		return span{from, to}
	case isReference(value, name), isIdentifier(name) && isSecret(value), bytes.IndexByte(value, '-') > 0 && isSecret(value), !likePassword(value) && (!apart || len(value) < 4 || goesOn(t[to:])):
		return span{}
	case isPassword(name), linked && len(value) >= 8, isStrong(value):
		return span{from, to}
	}
	return span{}
}
