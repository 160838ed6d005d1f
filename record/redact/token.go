package redact

import (
	"bytes"
	"strings"
)

// A tokenForm describes an issuer's secrets: a prefix, which is kept, followed by
// letters, digits and characters of also.
type tokenForm struct {
	prefix   string
	lead     int // number of equally secret characters before the prefix
	min, max int // length after the prefix; max 0: unlimited
	also     alphabet
	checks   []func(secret []byte) bool // further conditions
}

// An alphabet has the characters that may be in a token besides letters and digits.
type alphabet struct {
	index int // less than maxAlphabets; 0: no further characters
	chars string
}

// base64Chars is the alphabet of RFC 4648, section 4.
var base64Chars = alphabet{chars: "+/="}

// maxAlphabets is a little more than token_forms.txt has.
const maxAlphabets = 32

func (a alphabet) has(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte(a.chars, c) >= 0
}

// tokens looks for tokens, including those that begin within another one, since they may
// end after it.
func (s *search) tokens() {
	t := s.text // unchanged: what is found is masked in a copy
	index := indexOfTokens()
	var runs runs
	var last span
	for i := 0; ; i++ {
		var form *tokenForm
		if i, form = index.next(t, i, &runs); form == nil {
			return
		}
		from := i + len(form.prefix)
		one := span{from, form.end(t, from, &runs)}
		if form.lead > 0 {
			one.from = i - form.lead
		}
		if one.from < last.from || one.to > last.to {
			s.add(one.from, one.to)
			last = one
		}
	}
}

// runs holds, for each alphabet, the last run of its characters, so that each run is
// scanned once, or twice where prefixes overlap.
type runs [maxAlphabets]span

// end returns where the run of characters of a that begins at from ends.
func (r *runs) end(t []byte, from int, a alphabet) int {
	if run := r[a.index]; from < run.from || from >= run.to {
		to := from
		for to < len(t) && a.has(t[to]) {
			to++
		}
		r[a.index] = span{from, to}
	}
	return r[a.index].to
}

// end returns where a token of the form ends whose prefix ends at from. A dot after a token
// of known length ends a sentence.
func (form *tokenForm) end(t []byte, from int, runs *runs) int {
	to := runs.end(t, from, form.also)
	for form.max > 0 && to > from && t[to-1] == '.' {
		to--
	}
	return to
}

// judged limits how much of a token is checked; otherwise a text of nothing but prefixes
// would take quadratic time.
const judged = 8 << 10

// matches reports whether a token of the form has its prefix at t[i].
func (form *tokenForm) matches(t []byte, i int, runs *runs) bool {
	from, begin := i+len(form.prefix), i-form.lead
	if begin < 0 || !bytes.HasPrefix(t[i:], []byte(form.prefix)) || !beginsWord(t, begin) {
		return false
	}
	for _, c := range t[begin:i] {
		if !form.also.has(c) {
			return false
		}
	}
	to := form.end(t, from, runs)
	if n := to - from; n < form.min || form.max > 0 && n > form.max {
		return false
	}
	secret := t[from:to]
	if form.lead > 0 {
		secret = t[begin:to]
	}
	secret = secret[:min(len(secret), judged)]
	for _, check := range form.checks {
		if !check(secret) {
			return false
		}
	}
	return !isSample(secret)
}
