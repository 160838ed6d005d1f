package replay

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// clientCapabilities are what the live client says it supports.
type clientCapabilities struct {
	initialize []byte          // params of its initialize; nil before that has come
	added      [][]byte        // params of later requests that add capabilities
	checked    map[string]bool // methods for which lacks was called
}

// initialized notes the params of initialize.
func (c *clientCapabilities) initialized(params []byte) {
	c.initialize, c.checked = bytes.Clone(params), make(map[string]bool)
}

// lacks reports whether a method of the agent requires a capability that the client
// has not offered. It returns true only once for each method.
func (c *clientCapabilities) lacks(method string) bool {
	if c.initialize == nil || c.checked[method] {
		return false
	}
	c.checked[method] = true
	return !slices.ContainsFunc(append(c.added, c.initialize), func(said []byte) bool {
		return dialect.Allowed(dialect.Unknown, dialect.ClientSide, method, said)
	})
}
