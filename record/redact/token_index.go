package redact

import (
	"cmp"
	"slices"
	"sync"
)

// A tokenIndex finds where tokens begin in one pass over a text: a single lookup
// rules out every form in most places, however many forms there are.
type tokenIndex struct {
	class [256]byteClass
	first [1 << keyBits]uint16 // index in chain by key, counted from 1; 0: no prefix has the key
	chain []tokenLink
}

// A tokenLink is a form whose prefix has a key. Longer prefixes come first.
type tokenLink struct {
	form *tokenForm
	next uint16 // like first
}

// A byteClass says what a byte can be.
type byteClass uint8

const (
	inWord byteClass = 1 << iota // a letter or digit: no word begins after it
	begins                       // the first byte of a prefix
	marks                        // the first byte of a prefix that follows secret characters
)

// keyBits gives a table of 16 KiB, which stays in the cache.
const keyBits = 13

// indexOfTokens makes the index on first use; most commands never need it.
var indexOfTokens = sync.OnceValue(func() *tokenIndex { return newTokenIndex(tokenForms()) })

func newTokenIndex(all []tokenForm) *tokenIndex {
	forms := make([]*tokenForm, len(all))
	for i := range all {
		forms[i] = &all[i]
	}
	slices.SortStableFunc(forms, func(a, b *tokenForm) int { return cmp.Compare(len(b.prefix), len(a.prefix)) })
	slices.Reverse(forms) // the last one put into a chain comes first
	x := new(tokenIndex)
	for c := range 256 {
		if isLetter(byte(c)) || isDigit(byte(c)) {
			x.class[c] = inWord
		}
	}
	for _, form := range forms {
		x.class[form.prefix[0]] |= begins
		if form.lead > 0 {
			x.class[form.prefix[0]] |= marks
		}
		if len(form.prefix) > 2 {
			x.put(tokenKey(form.prefix[0], form.prefix[1], form.prefix[2]), form)
			continue
		}
		for c := range 256 {
			if form.also.has(byte(c)) {
				x.put(tokenKey(form.prefix[0], form.prefix[1], byte(c)), form)
			}
		}
	}
	return x
}

func (x *tokenIndex) put(key uint32, form *tokenForm) {
	x.chain = append(x.chain, tokenLink{form, x.first[key]})
	x.first[key] = uint16(len(x.chain))
}

// tokenKey returns a number less than 1<<keyBits for the first bytes of a prefix.
func tokenKey(a, b, c byte) uint32 {
	return (uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 0x9e3779b1 >> (32 - keyBits)
}

// next returns where the first token at or after t[i] has its prefix, and its form: of
// several, the one with the longest prefix. The form is nil if there is no token.
func (x *tokenIndex) next(t []byte, i int, runs *runs) (int, *tokenForm) {
	for behind := false; i+2 < len(t); i++ {
		class := x.class[t[i]]
		for ; behind && class&(inWord|marks) == inWord; class = x.class[t[i]] {
			if i++; i+2 >= len(t) {
				return i, nil
			}
		}
		if class&(begins|marks) != 0 {
			for at := x.first[tokenKey(t[i], t[i+1], t[i+2])]; at != 0; at = x.chain[at-1].next {
				if form := x.chain[at-1].form; (!behind || form.lead > 0) && form.matches(t, i, runs) {
					return i, form
				}
			}
		}
		// A word may follow the letter of an escape sequence.
		behind = class&inWord != 0 && (behind || i == 0 || t[i-1] != '\\')
	}
	return i, nil
}
