package dialect

import (
	_ "embed"
	"strings"
	"sync"
)

// A Proposed is something that a proposal would add to a protocol; peers that use it are
// not accused of sending something unknown.
type Proposed struct {
	Protocol Protocol
	Name     string   // a method, a variant of session/update, or METHOD#MEMBER
	Month    string   // month of the version that was read, such as 2026-08
	Source   string   // URL
	Offers   []string // paths in initialize or its result; a side that has one of them knows the proposal
	Title    string
}

//go:embed proposals.txt
var proposalsText string

var proposals = sync.OnceValue(func() map[string]Proposed {
	list := map[string]Proposed{}
	for line := range strings.Lines(proposalsText) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		p := Proposed{Protocol: named[Protocol](protocolNames[:], words[0]), Name: words[1], Month: words[2], Source: words[3], Title: strings.Join(words[5:], " ")}
		if words[4] != "-" {
			p.Offers = strings.Split(words[4], ",")
		}
		list[p.Name] = p
	}
	return list
})

// LookupProposed returns the entry of proposals.txt for a protocol and a name.
func LookupProposed(p Protocol, name string) (Proposed, bool) {
	found, ok := proposals()[name]
	return found, ok && found.Protocol == p
}
