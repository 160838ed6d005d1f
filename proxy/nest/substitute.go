package nest

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Substitute is a proxy.Interceptor for one connection, or for several one after the
// other. It gives the agent something else in the place of its MCP servers. Its functions are
// asked in the order in which the client names servers, and change nothing if they return
// nothing.
type Substitute struct {
	Command func(name string) []string // what is started in place of the next server of a name, with its arguments
	URL     func(name string) string   // likewise, where streamable HTTP is spoken in place of one that is reached by a URL

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
	switch s.Kind {
	case dialect.StdioServer:
		command := r.Command(s.Name)
		if len(command) == 0 {
			return nil
		}
		return wire.Set(wire.Set(entry, wire.Encode(command[1:]), "args"), wire.Encode(command[0]), "command")
	case dialect.HTTPServer, dialect.SSEServer:
		url := r.URL(s.Name)
		if url == "" {
			return nil
		}
		return wire.Set(wire.Set(entry, wire.Encode("http"), "type"), wire.Encode(url), "url")
	}
	return nil
}
