package frametext

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// An Offer is a capability that a side has declared, or one in its protocol that it has
// not.
type Offer struct {
	Name    string // as sent; not clean
	Depth   int    // 0 if it is not part of another
	Offered bool
	Answer  string // yes, no, or another declared value; clean
	Uses    []Use  // uses of the methods that require it
}

// A Use counts how often a method, or a variant of session/update, was used.
type Use struct {
	Method string
	Count  int
}

// Offers returns a party's capabilities on one side of a connection in a dialect: first
// the declared ones in order, each followed by its parts, then those it left out. used
// counts the uses of methods.
func (p *Party) Offers(d dialect.Dialect, side dialect.Side, used map[string]int) []Offer {
	o := offers{said: p.Capabilities, known: specified()[sideKey{d, side}], used: used}
	for _, c := range dialect.Capabilities(d) {
		if c.Side == side && (c.Form == dialect.AsObject || c.Form == dialect.AsTrue) {
			o.allow = append(o.allow, c)
		}
	}
	o.add("", p.Capabilities, 0)
	return o.list
}

// offers collects one side's Offers.
type offers struct {
	said  wire.Value
	known []string             // as in specified
	allow []dialect.Capability // the capabilities that allow methods
	used  map[string]int
	list  []Offer
}

// deepestOffer limits how deeply capabilities are read: somewhat deeper than any in the
// specifications.
const deepestOffer = 8

// add adds the members of the capability at a path, then the parts that it lacks.
func (o *offers) add(path string, v wire.Value, depth int) {
	v.ForEach(func(key, value wire.Value) bool {
		at := strings.TrimPrefix(path+"."+key.Text(), ".")
		one := Offer{Name: key.Text(), Depth: depth, Offered: isOffered(o.known, at, value), Answer: "yes"}
		switch {
		case !one.Offered:
			one.Answer = "no"
		case !value.IsTrue() && !value.IsObject():
			one.Answer = Value(value)
		}
		one.Uses = o.uses(at, one.Offered)
		o.list = append(o.list, one)
		if value.IsObject() && key.Text() != "_meta" && depth < deepestOffer && (one.Offered || !empty(value)) {
			o.add(at, value, depth+1)
		}
		return true
	})
	for _, name := range absent(o.known, path, v) {
		o.list = append(o.list, Offer{Name: name, Depth: depth, Answer: "no", Uses: o.uses(strings.TrimPrefix(path+"."+name, "."), false)})
	}
}

// uses returns which methods require a capability, and how often they were used. For a
// capability that is not offered it omits methods that an offered one allows.
func (o *offers) uses(path string, offered bool) []Use {
	var list []Use
	for _, c := range o.allow {
		if c.Path != path {
			continue
		}
		for _, m := range c.Allows {
			if n := o.used[m]; n > 0 && (offered || !o.allows(m)) {
				list = append(list, Use{m, n})
			}
		}
	}
	return list
}

// allows reports whether an offered capability allows a method.
func (o *offers) allows(method string) bool {
	return slices.ContainsFunc(o.allow, func(c dialect.Capability) bool {
		v := o.said.Get(c.Path)
		return slices.Contains(c.Allows, method) && v.Exists() && isOffered(o.known, c.Path, v)
	})
}

// meta is where MCP since 2026-07-28 puts the contents of the former initialize.
const meta = `_meta.io\.modelcontextprotocol/`

// A Party is what a side says about itself in initialize or server/discover.
type Party struct {
	Who          string // its name and version
	Protocol     string // such as `protocol 2025-06-18`
	Capabilities wire.Value
}

// PartyOf reads the params or result of such a call.
func PartyOf(v wire.Value) Party {
	var p Party
	for _, key := range []string{"info", "clientInfo", "agentInfo", "serverInfo", meta + "clientInfo", meta + "serverInfo"} {
		if i := v.Get(key); i.IsObject() {
			p.Who = termtext.Spaced(first(i, "title", "name"), Value(i.Get("version")))
			break
		}
	}
	p.Protocol = cmp.Or(
		termtext.Labelled("protocol", first(v, "protocolVersion", meta+"protocolVersion")),
		counted("protocol", Value)(v.Get("supportedVersions")))
	for _, key := range []string{"capabilities", "clientCapabilities", "agentCapabilities", meta + "clientCapabilities"} {
		if c := v.Get(key); c.IsObject() {
			p.Capabilities = c
			break
		}
	}
	return p
}
