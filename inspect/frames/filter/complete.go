package filter

import (
	"slices"
	"strings"
)

// A Candidate is a possible completion of a query.
type Candidate struct {
	From  int    // start of the part of the query that Text would replace
	Text  string // quoted if necessary
	Means string // what a key means, in a few words
}

// Complete returns the completions at the end of query: keys, or values of the key before
// it. values returns the values that occur for one of Keys or for a key from PathKey,
// possibly none; for a dot it returns the gjson paths. Candidates that begin with what
// was typed come first, then those that contain it; case is ignored.
func Complete(query string, values func(key string) []string) []Candidate {
	p := lastToken(query)
	switch {
	case p.key == "" && p.quoted:
		return nil
	case p.op == "": // a text, or a path without an operator yet
		return completeKey(p.at, query[p.at:], values)
	case p.op != ":" && p.op != "=":
		return nil
	}
	k, path, fault := lookup(p.key)
	if fault != nil {
		return nil
	}
	known := k.Words()
	switch {
	case path != "":
		known = values(PathKey(path))
	case known == nil:
		known = values(k.Name)
	}
	var list []Candidate
	for _, v := range ranked(known, p.value) {
		list = append(list, Candidate{From: p.valueAt, Text: Value(v)})
	}
	return list
}

// lastToken returns the token that ends query, or an empty one.
func lastToken(query string) token {
	for i := 0; i < len(query); {
		if n := blanks(query[i:]); n > 0 {
			i += n
			continue
		}
		if strings.IndexByte("()|!", query[i]) >= 0 {
			i++
			continue
		}
		p := lex(query, i)
		if p.end == len(query) {
			return p
		}
		i = p.end
	}
	return token{at: len(query), end: len(query)}
}

// completeKey returns the keys that match what was typed.
func completeKey(from int, typed string, values func(string) []string) []Candidate {
	var list []Candidate
	if strings.HasPrefix(typed, ".") || strings.HasPrefix(typed, "`") {
		var paths []string
		for _, path := range values(".") {
			paths = append(paths, PathKey(path))
		}
		for _, key := range ranked(paths, typed) {
			list = append(list, Candidate{From: from, Text: key + ":"})
		}
		return list
	}
	for _, name := range ranked(keyNames(), typed) {
		k, _, _ := lookup(name)
		list = append(list, Candidate{from, name + ":", k.Means})
	}
	return list
}

// ranked returns the words that begin with what was typed, then those that contain it.
func ranked(words []string, typed string) []string {
	typed = strings.ToLower(typed)
	var begin, within []string
	for _, w := range words {
		switch i := strings.Index(strings.ToLower(w), typed); {
		case i == 0:
			begin = append(begin, w)
		case i > 0:
			within = append(within, w)
		}
	}
	return slices.Concat(begin, within)
}
