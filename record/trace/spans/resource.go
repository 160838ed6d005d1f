package spans

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A connection collects what a tape reveals about its connection.
type connection struct {
	frames, bytes, lost int64
	exit                *wire.Exit
	died                bool // with an error, or by a signal
}

// add handles the next frame.
func (c *connection) add(f *dialect.Frame) {
	switch {
	case f.Kind == wire.Mark:
		mark := wire.ReadMark(f.Frame)
		c.lost += mark.Gap + mark.Damage
		c.exit = cmp.Or(mark.Exit, c.exit)
	case f.Counts():
		c.frames, c.bytes = c.frames+1, c.bytes+f.Size
	}
}

// connection returns the span of the connection when it has ended.
func (b *Builder) connection(e *trace.Event) Span {
	s := b.begin(Connection, e, "acptap.connection")
	to := connectionRef(b.tape.ID)
	s.Trace, s.ID = to.Trace, to.ID
	b.network(&s)
	s.attr(frameCount, b.conn.frames)
	s.attr(byteCount, b.conn.bytes)
	if b.conn.lost > 0 {
		s.attr(lostBytes, b.conn.lost)
	}
	if x := b.conn.exit; x != nil {
		s.attr(exitCode, int64(x.Code))
		s.text(exitSignal, x.Signal)
	}
	b.fail(&s, e)
	if b.tape.Parent != "" {
		s.link(connectionRef(b.tape.Parent), "agent")
	}
	return s
}

// network adds how the two sides are connected.
func (b *Builder) network(s *Span) {
	switch b.tape.Transport {
	case "":
		s.text(networkTransport, "pipe")
	case "http":
		s.text(networkTransport, "tcp")
		s.text(networkProtocol, "http")
	case "ws":
		s.text(networkTransport, "tcp")
		s.text(networkProtocol, "websocket")
	}
}

// resource returns the attributes of the resource. It includes no command, directory, host
// or user.
func (b *Builder) resource() []Attr {
	c := b.now()
	var r Span
	r.text(serviceName, cmp.Or(b.Service, b.tape.Name, c.Agent, "agent"))
	r.text(serviceVersion, c.AgentVersion)
	r.text(serviceInstance, b.tape.ID)
	r.text(clientName, c.Client)
	r.text(clientVersion, c.ClientVersion)
	if c.Protocol != dialect.AnyProtocol {
		r.text(protocolName, c.Protocol.String())
	}
	r.text(protocolVersion, c.Version)
	for _, a := range b.Resource {
		if !slices.ContainsFunc(r.Attrs, func(own Attr) bool { return own.Name == a.Name }) {
			r.Attrs = append(r.Attrs, a)
		}
	}
	return r.Attrs
}
