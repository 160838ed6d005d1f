package conform

import (
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/wire"
)

// A naming is a successful set-up that named MCP servers. nested.Links knows which servers.
type naming struct {
	rule    int     // index in the Checker's rules
	finding Finding // without its text
}

// maxNamings limits the set-ups remembered per tape.
const maxNamings = 1 << 8

func newNamings() bounded.Map[uint64, naming] {
	return bounded.Map[uint64, naming]{Limit: maxNamings}
}

// AddUnstarted reports that the agent never started an MCP server named by a set-up on the
// current tape, although a turn has ended since: rule ACP231. A Checker cannot find this out
// itself, because servers have their own tapes. setUp is the Seq of the session/new or
// similar request. AddUnstarted may be called once per set-up and server, at any time before
// Next. It returns false and adds nothing if the Checker knows no such set-up.
func (c *Checker) AddUnstarted(setUp uint64, server string) bool {
	n, ok := c.namings.Get(setUp)
	if !ok {
		return false
	}
	n.finding.Text = "never started the MCP server " + short(server) + ", which the set-up names, though a turn has ended since"
	v := &c.verdicts[n.rule]
	if v.found[Agent]++; v.found[Agent] <= maxFindings {
		c.findings = append(c.findings, n.finding)
	}
	return true
}

// serverRules concern the MCP servers of a session.
var serverRules = checks{
	{"ACP231", serverNotStarted},
}

func serverNotStarted(s *Step, r *Report) {
	if s.Call == nil || !namesProgram(wire.Get(s.Call.Params, "mcpServers")) {
		return
	}
	r.Tried()
	f := r.finding(Evidence{Seq: s.Call.Seq, Of: s.Call}, Agent)
	f.Session = s.sessionID()
	r.judge.checker.namings.Set(s.Call.Seq, naming{r.active.index, f})
}

// namesProgram reports whether a list of servers has one that the agent has to start.
func namesProgram(servers []byte) bool {
	for _, server := range wire.Elements(servers) {
		if wire.Present(wire.Get(server, "command")) {
			return true
		}
	}
	return false
}
