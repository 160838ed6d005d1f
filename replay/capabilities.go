package replay

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// clientCapabilities are what the live client says it supports.
type clientCapabilities struct {
	initialize []byte          // params of its initialize; nil before that has come
	methods    map[string]bool // methods of the agent: true if the client supports it, false if lacks has reported it
}

// initialized notes the params of initialize.
func (c *clientCapabilities) initialized(params []byte) {
	c.initialize = bytes.Clone(params)
	c.add(params)
}

// add adds the capabilities in the params of a request.
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

// lacks reports whether a method of the agent requires a capability that the client
// has not offered. It returns true only once for each method.
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
