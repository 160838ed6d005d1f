package nest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
)

// A Selection says which servers to record.
type Selection struct {
	Stdio bool     // servers that the agent starts
	HTTP  bool     // servers with a URL
	Only  []string // names; empty means all
	Not   []string // names
	Force bool     // even if the agent's program is known to run it elsewhere
}

// ParseSelection reads words separated by commas: all, stdio, http, only:NAME, not:NAME,
// force. Without any of the first three it selects all.
func ParseSelection(text string) (Selection, error) {
	var s Selection
	for word := range strings.SplitSeq(text, ",") {
		key, name, named := strings.Cut(word, ":")
		switch {
		case word == "all":
			s.Stdio, s.HTTP = true, true
		case word == "stdio":
			s.Stdio = true
		case word == "http":
			s.HTTP = true
		case word == "force":
			s.Force = true
		case named && (key == "only" || key == "not") && name == "":
			return s, fmt.Errorf("behind %s: there is the name of a server, such as %s:files", key, key)
		case named && key == "only":
			s.Only = append(s.Only, name)
		case named && key == "not":
			s.Not = append(s.Not, name)
		default:
			return s, fmt.Errorf("%q is not all, stdio, http, only:NAME, not:NAME or force, or several of them with commas between", word)
		}
	}
	for _, name := range s.Only {
		if slices.Contains(s.Not, name) {
			return s, fmt.Errorf("only:%s and not:%s exclude each other", name, name)
		}
	}
	if !s.Stdio && !s.HTTP {
		s.Stdio, s.HTTP = true, true
	}
	return s, nil
}

// named reports whether servers of a name are selected.
func (s Selection) named(name string) bool {
	return (len(s.Only) == 0 || slices.Contains(s.Only, name)) && !slices.Contains(s.Not, name)
}

// unknown returns the words of s that name a server not in list.
func (s Selection) unknown(list []dialect.Server) (words []string) {
	for _, by := range []struct {
		word  string
		names []string
	}{{"only:", s.Only}, {"not:", s.Not}} {
		for _, name := range by.names {
			if !slices.ContainsFunc(list, func(s dialect.Server) bool { return s.Name == name }) {
				words = append(words, by.word+name)
			}
		}
	}
	return words
}
