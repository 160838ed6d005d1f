package nest

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Substitute is a proxy.Interceptor for one connection, or for several one after the
// other. It has the agent start other programs in the place of its MCP servers.
type Substitute struct {
	// Command returns what is started in place of the next server of a name, with its
	// arguments; nil: the server. It is asked in the order in which the client names
	// servers. Those that an agent does not start, by their kind, it cannot replace.
	Command func(name string, kind dialect.ServerKind) []string

	listener
}

// Intercept handles the next frame of the client. The proxy calls it.
func (r *Substitute) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	return append(out, rewritten(f, func(frame []byte) []byte {
		list, _ := dialect.Servers(frame)
		return replaced(frame, list, r.entry)
	}))
}

func (r *Substitute) entry(entry []byte, s dialect.Server) []byte {
	command := r.Command(s.Name, s.Kind)
	if len(command) == 0 || s.Kind != dialect.StdioServer {
		return nil
	}
	args := slices.Concat([]byte("["), elements(command[1:]...), []byte("]"))
	return wire.Set(wire.Set(entry, args, "args"), quote(command[0]), "command")
}
