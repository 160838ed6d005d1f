package redact

import (
	_ "embed"
	"strings"
)

//go:embed words.txt
var wordsText string

// words is a list of words, grouped by the last five bits of their last byte, which are the
// same for both cases of a letter.
type words [32][]string

// vocabulary has the lists of words.txt by name.
var vocabulary = func() map[string]*words {
	all := make(map[string]*words)
	var list *words
	for line := range strings.Lines(wordsText) {
		if line[0] == '#' || line[0] == '\n' {
			continue
		}
		if name, rest, begins := strings.Cut(line, ": "); begins && line[0] != '\t' {
			list, line = new(words), rest
			all[name] = list
		}
		for word := range strings.FieldsSeq(line) {
			end := word[len(word)-1] % 32
			list[end] = append(list[end], word)
		}
	}
	return all
}()

var (
	secretWords, shortSecrets, wholeSecrets, pinWords = vocabulary["secret"], vocabulary["short"], vocabulary["whole"], vocabulary["pin"]
	keyWords, openKeys, codeWords, phraseEnds         = vocabulary["key"], vocabulary["openKey"], vocabulary["code"], vocabulary["phrase"]
	openTokens, tokenKinds, tailWords, statements     = vocabulary["openToken"], vocabulary["tokens"], vocabulary["tail"], vocabulary["statement"]
	descriptions, noValues, standards                 = vocabulary["ofSecret"], vocabulary["noValue"], vocabulary["standard"]
	links, onTheWay, logins, numberless               = vocabulary["link"], vocabulary["onTheWay"], vocabulary["login"], vocabulary["numberless"]
	joiners, equates, states, getters                 = vocabulary["joiner"], vocabulary["equate"], vocabulary["state"], vocabulary["getter"]
	accountWords, places, schemes                     = vocabulary["account"], vocabulary["place"], vocabulary["scheme"]
	references, setters                               = vocabulary["reference"].all(), vocabulary["setter"].all()
)

func (w *words) all() (all []string) {
	for _, some := range w {
		all = append(all, some...)
	}
	return all
}

// end reports whether s ends with one of the words, in any case.
func (w *words) end(s []byte) bool {
	if len(s) == 0 {
		return false
	}
	for _, word := range w[s[len(s)-1]%32] {
		if n := len(s) - len(word); n >= 0 && equalFold(s[n:], word) {
			return true
		}
	}
	return false
}

// have reports whether s is one of the words, in any case.
func (w *words) have(s []byte) bool {
	if len(s) == 0 {
		return false
	}
	for _, word := range w[s[len(s)-1]%32] {
		if len(s) == len(word) && equalFold(s, word) {
			return true
		}
	}
	return false
}

// equalFold reports whether s, in any case, is a word of the same length in lower case.
func equalFold(s []byte, word string) bool {
	for i := len(s) - 1; i >= 0; i-- {
		if lower(s[i]) != word[i] {
			return false
		}
	}
	return true
}
