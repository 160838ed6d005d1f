package nest

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Substitute is a proxy.Interceptor for one connection, or for several in sequence. It
// gives the agent other MCP servers in place of its own. It calls its functions in the
// order in which the client names servers; a server for which they return nothing stays as
// it is.
type Substitute struct {
	Command func(name string) []string // the command and arguments to start in place of the next server with a name
	URL     func(name string) string   // the URL to use in place of that of the next server with a name; it speaks streamable HTTP

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
