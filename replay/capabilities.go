package replay

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// advertised notes what the client says to take, as params of initialize and the
// like have it.
func (p *player) advertised(params []byte) {
	for _, c := range dialect.Capabilities(dialect.Unknown) {
		if c.Side == dialect.ClientSide && c.Offered(dialect.Unknown, params) {
			for _, method := range c.Allows {
				p.takes[method] = true
			}
		}
	}
}

// unadvertised notes a request of the agent that this client has not said to
// take.
func (p *player) unadvertised(method string) {
	required := slices.ContainsFunc(dialect.Requires(dialect.Unknown, method), func(c dialect.Capability) bool {
		return c.Side == dialect.ClientSide && c.Form != dialect.AtSetup
	})
	_, known := p.takes[method]
	if !required || known || p.offered == nil {
		return
	}
	p.takes[method] = false
	p.report.note("the tape's agent calls %s, which this client has not advertised", method)
}
