package matrix

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// usesOf returns which capabilities the params of a request use beside that of its
// method: kinds of content in a prompt, transports of the servers of a session,
// additional directories, the mode of an elicitation. They are named as in
// dialect.Capability.
func usesOf(method string, params []byte) (uses []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(uses, name) {
			uses = append(uses, name)
		}
	}
	switch role := dialect.RoleOf(dialect.ACP, method); {
	case role.Is(dialect.Prompts):
		for block := range elements(params, "prompt") {
			add(text(wire.Get(block, "type")))
		}
	case role.Is(dialect.Opens):
		for server := range elements(params, "mcpServers") {
			add(text(wire.Get(server, "type")))
		}
		for range elements(params, "additionalDirectories") {
			add("additionalDirectories")
		}
	}
	return uses
}

// elements yields the elements of an array in params.
func elements(params []byte, key string) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		list := wire.Inside(wire.Get(params, key), '[')
		for v, ok := list.Element(); ok && yield(v); v, ok = list.Element() {
		}
	}
}

func text(value []byte) string {
	t, ok := wire.Unquote(value)
	if !ok {
		return ""
	}
	return string(t)
}
