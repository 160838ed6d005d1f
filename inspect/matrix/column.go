package matrix

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/acptap/acptap/proxy/dialect"
)

// A column is a capability with its names in all dialects.
type column struct {
	name     string
	protocol dialect.Protocol
	side     dialect.Side // who offers it
}

// required lists the methods that every agent must serve, so agents do not advertise
// them.
var required = []struct{ method, name string }{
	{dialect.NewSession, "new"},
	{dialect.Prompt, "prompt"},
}

// columns returns all capabilities in the order of dialect's table. They are computed on
// first use, so that a proxy does not pay for them when it starts.
var columns = sync.OnceValue(func() (all []column) {
	for _, r := range required {
		all = append(all, column{r.name, dialect.ACP, dialect.AgentSide})
	}
	for _, c := range dialect.Capabilities(dialect.Unknown) {
		if c.Path == session {
			continue
		}
		for _, d := range []dialect.Dialect{dialect.ACPv1, dialect.ACPv2Early, dialect.ACPv2, dialect.MCPLegacy, dialect.MCPModern} {
			if one := (column{columnName(c), d.Protocol(), c.Side}); c.Dialects.Has(d) && !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	for _, name := range habits {
		all = append(all, column{name, dialect.ACP, dialect.AgentSide})
	}
	return all
})

// groups lists the objects that only group capabilities.
var groups = []string{"sessionCapabilities.", "session."}

// columnName returns a capability's name for a heading: two words at most.
func columnName(c dialect.Capability) string {
	path := c.Path
	switch path {
	case "loadSession":
		return "load"
	case "authMethods":
		return "login"
	}
	for _, g := range groups {
		path = strings.TrimPrefix(path, g)
	}
	path = strings.NewReplacer("nes.events.document.", "nes ", "auth.", "", "TextFile", "", ".", " ").Replace(path)
	return words(path)
}

// words splits a name such as listChanged into words.
func words(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// An offer is a capability and whether a peer offers it.
type offer struct {
	dialect.Capability
	column  string
	offered bool
}

// offers returns the offers in a side's introduction: params or the result of initialize.
func offers(d dialect.Dialect, side dialect.Side, said []byte) (all []offer) {
	for _, c := range dialect.Capabilities(d) {
		if c.Side != side || c.Form == dialect.AtSetup {
			continue
		}
		offered := c.Offered(d, said)
		if c.Path != session {
			all = append(all, offer{c, columnName(c), offered})
			continue
		}
		for _, method := range c.Allows {
			if column := strings.TrimPrefix(method, "session/"); !dialect.Does(method, dialect.CancelsTurns) {
				c.Allows = []string{method}
				all = append(all, offer{c, column, offered})
			}
		}
	}
	return all
}

// session is a version 2 capability that version 1 splits into several: each of its
// methods goes to the matching column.
const session = "session"
