package replay

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// clientCapabilities are what the client of now has said to support.
type clientCapabilities struct {
	initialize []byte          // params of its initialize; nil: it has not come
	methods    map[string]bool // of the agent, which it takes; false: it does not, and that was noted
}

// initialized takes the params of initialize.
func (c *clientCapabilities) initialized(params []byte) {
	c.initialize = bytes.Clone(params)
	c.add(params)
}

// add takes the params of a request that tells of capabilities.
func (c *clientCapabilities) add(params []byte) {
	if c.methods == nil {
		c.methods = make(map[string]bool)
	}
	for _, one := range dialect.Capabilities(dialect.Unknown) {
		if one.Side == dialect.ClientSide && one.Offered(dialect.Unknown, params) {
			for _, method := range one.Allows {
				c.methods[method] = true
			}
		}
	}
}

// lacks reports, once for each method, whether a request of the agent is one that
// the client has not said to take.
func (c *clientCapabilities) lacks(method string) bool {
	if _, known := c.methods[method]; known || c.initialize == nil {
		return false
	}
	required := slices.ContainsFunc(dialect.Requires(dialect.Unknown, method), func(one dialect.Capability) bool {
		return one.Side == dialect.ClientSide && one.Form != dialect.AtSetup
	})
	c.methods[method] = !required
	return required
}
