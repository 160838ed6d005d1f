package dialect

import (
	_ "embed"
	"strings"
	"sync"
)

// A Proposed is something that a proposal would add to a protocol. Peers that use it do
// nothing that is unknown.
type Proposed struct {
	Protocol Protocol
	Name     string   // a method, a variant of session/update, or METHOD#MEMBER
	Month    string   // of the text that was read, such as 2026-08
	Source   string   // URL
	Offers   []string // paths in initialize or its result by which a side says that it knows the proposal; one is enough
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

// LookupProposed returns what is proposed for a protocol under a name, as proposals.txt has
// it.
func LookupProposed(p Protocol, name string) (Proposed, bool) {
	found, ok := proposals()[name]
	return found, ok && found.Protocol == p
}
