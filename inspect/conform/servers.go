package conform

import (
	"slices"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/wire"
)

// A naming is a set-up that named MCP servers and succeeded.
type naming struct {
	rule    int     // index in the Checker's rules
	finding Finding // without the server
	servers []string
	turned  bool // a turn of the session has ended since
}

// maxNamings limits the set-ups remembered per tape.
const maxNamings = 1 << 8

func newNamings() bounded.Map[uint64, *naming] {
	return bounded.Map[uint64, *naming]{Limit: maxNamings}
}

// NamesServers reports whether a set-up on the current tape named MCP servers, so that
// AddUnstarted may apply.
func (c *Checker) NamesServers() bool { return c.namings.Len() > 0 }

// AddUnstarted adds that the agent never started an MCP server which a set-up on the
// current tape names, although a turn has ended since: rule ACP231. A Checker cannot know,
// because servers have tapes of their own. AddUnstarted may be called once per server, at
// any time before Next. It returns false and adds nothing if no such set-up names it.
func (c *Checker) AddUnstarted(server string) bool {
	for _, n := range c.namings.All() {
		if !n.turned || !slices.Contains(n.servers, server) {
			continue
		}
		f := n.finding
		f.Text = "never started the MCP server " + short(server) + ", which the set-up names, though a turn has ended since"
		v := &c.verdicts[n.rule]
		if v.found[Agent]++; v.found[Agent] <= maxFindings {
			c.findings = append(c.findings, f)
		}
		return true
	}
	return false
}

// serverRules concern the MCP servers of a session.
var serverRules = checks{
	{"ACP231", serverNotStarted},
}

func serverNotStarted(s *Step, r *Report) {
	if s.Call == nil {
		return
	}
	namings := &r.judge.checker.namings
	if s.Method == "session/prompt" {
		for seq, n := range namings.All() {
			if n.finding.Session == s.Call.Session && seq < s.Call.Seq {
				n.turned = true
			}
		}
		return
	}
	var names []string
	for _, server := range wire.Elements(wire.Get(s.Call.Params, "mcpServers")) {
		if name := wire.Get(server, "name"); isString(name) && wire.Present(wire.Get(server, "command")) {
			names = append(names, wire.Text(name))
		}
	}
	if names == nil {
		return
	}
	r.Tried()
	f := r.finding(Evidence{Seq: s.Call.Seq, Of: s.Call}, Agent)
	f.Session = s.sessionID()
	namings.Set(s.Call.Seq, &naming{rule: r.active.index, finding: f, servers: names})
}
