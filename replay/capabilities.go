package replay

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// clientCapabilities are what this client says it supports.
type clientCapabilities struct {
	initialize []byte          // params of its initialize; nil: it has not come
	methods    map[string]bool // of the agent that it supports; false: it does not, and that was noted
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

// lacks reports whether the client has not said that it supports a method of the
// agent. It returns true only once for each method.
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
