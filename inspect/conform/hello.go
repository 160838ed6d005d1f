package conform

import (
	"bytes"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A hello is what both sides said of themselves.
type hello struct {
	client   []byte // params of initialize
	agent    []byte // its result; of the Model Context Protocol without initialize: of server/discover
	asked    Moment // of initialize; Seq 0: none
	answered Moment // of its answer; Seq 0: none
	whole    bool   // both are known

	allowed map[string]bool // by method or variant: whether what allows it was offered; absent: it needs nothing
}

// maxHello is how many bytes of one side's word are remembered; of a longer one
// nothing is known.
const maxHello = 256 << 10

func (h *hello) observe(s *Step) {
	switch {
	case s.Method == "initialize" && s.Kind() == wire.Request && s.From == Client:
		*h = hello{client: keep(s.Envelope.Params), asked: s.Moment()}
	case s.Method == "initialize" && s.Call != nil && s.From == Agent && h.asked.Seq == s.Call.Seq:
		h.answered = s.Moment()
		if s.Succeeded() {
			h.agent = keep(s.Envelope.Result)
			h.whole = s.Call.lost == "" && h.client != nil && h.agent != nil
			h.offers(s.Conn)
		}
	case s.Method == "server/discover" && s.Succeeded() && s.Call != nil:
		h.agent = keep(s.Envelope.Result)
		h.offers(s.Conn)
	}
	if s.Conn.Dialect == dialect.MCPModern && s.Conn.settled {
		h.whole = true // each request says what it needs
	}
}

func keep(value []byte) []byte {
	if len(value) > maxHello {
		return nil
	}
	return bytes.Clone(value)
}

// offers works out what is allowed.
func (h *hello) offers(c *connection) {
	h.allowed = make(map[string]bool)
	for _, capability := range dialect.Capabilities(c.Dialect) {
		if capability.Form == dialect.AtSetup {
			continue
		}
		said := h.agent
		if capability.Side == dialect.ClientSide {
			said = h.client
		}
		offered := said != nil && capability.Offered(c.Dialect, said)
		for _, name := range capability.Allows {
			h.allowed[name] = h.allowed[name] || offered
		}
	}
}

// lacksHello returns why it is not known what both sides offer; empty if it is.
func (c *connection) lacksHello() string {
	if c.hello.whole {
		return ""
	}
	return "initialize and its answer are not on the tape"
}
