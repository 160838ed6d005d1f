package filter

import (
	"slices"
	"strings"
)

// A Candidate is a possible completion at a position in a query.
type Candidate struct {
	From, To int    // bytes of the query that Text would replace
	Text     string // quoted if necessary
	Means    string // meaning of a key, in a few words
}

// Complete returns the completions at the cursor, a byte of query or its end: keys, or
// values of the key before it. values returns the values that occur for one of Keys or for
// what PathKey returns, possibly none; for a dot it returns the gjson paths. Words that
// begin with what was typed come first, then those that contain it; case does not count.
func Complete(query string, cursor int, values func(key string) []string) []Candidate {
	p := tokenAt(query, cursor)
	switch {
	case p.key == "" && p.quoted:
		return nil
	case p.key == "":
		return completeKey(p.at, p.end, query[p.at:cursor], ":", values)
	case p.op == "": // a path without an operator yet
		return completeKey(p.at, cursor, query[p.at:cursor], ":", values)
	case cursor <= p.opAt:
		return completeKey(p.at, p.opAt, query[p.at:cursor], "", values)
	case cursor < p.valueAt || p.op != ":" && p.op != "=":
		return nil
	}
	k, path, fault := lookup(p.key)
	if fault != nil {
		return nil
	}
	known := k.values()
	switch {
	case path != "":
		known = values(PathKey(path))
	case known == nil:
		known = values(k.name)
	}
	typed := lex(query[:cursor], p.at).value
	end := p.end
	if p.open { // do not take the rest of the query into the quotes
		end = cursor
	}
	var list []Candidate
	for _, v := range ranked(known, typed) {
		list = append(list, Candidate{From: p.valueAt, To: end, Text: valueText(v)})
	}
	return list
}

// tokenAt returns the token that contains or touches the cursor, or an empty one.
func tokenAt(query string, cursor int) token {
	for i := 0; i <= cursor && i < len(query); {
		if n := blanks(query[i:]); n > 0 {
			i += n
			continue
		}
		if strings.IndexByte("()|!", query[i]) >= 0 {
			i++
			continue
		}
		p := lex(query, i)
		if cursor <= p.end {
			return p
		}
		i = p.end
	}
	return token{at: cursor, end: cursor}
}

// completeKey returns the keys that match what was typed, each followed by behind.
func completeKey(from, to int, typed, behind string, values func(string) []string) []Candidate {
	var list []Candidate
	if strings.HasPrefix(typed, ".") || strings.HasPrefix(typed, "`") {
		var paths []string
		for _, path := range values(".") {
			paths = append(paths, PathKey(path))
		}
		for _, key := range ranked(paths, typed) {
			list = append(list, Candidate{From: from, To: to, Text: key + behind})
		}
		return list
	}
	for _, name := range ranked(keyNames(), typed) {
		k, _, _ := lookup(name)
		list = append(list, Candidate{from, to, name + behind, k.means})
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
