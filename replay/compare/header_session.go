package compare

import (
	"bytes"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// headerSessions has the session ids in HTTP headers, and whether a message contains the id
// too. A session that only headers name is what the connection is over stdio, and is
// compared as such (MCP 2025-11-25, Streamable HTTP, Session Management).
type headerSessions map[string]bool

// observe notes the next frame of the tape.
func (h headerSessions) observe(f *dialect.Frame) {
	if f.Stream == 0 {
		return
	}
	if head := wire.ReadMark(f.Frame).HTTP; head != nil {
		for _, field := range head.Headers {
			if strings.EqualFold(field.Name, "Mcp-Session-Id") {
				if _, known := h[field.Value]; !known {
					h[field.Value] = false
				}
			}
		}
	}
	if within, ok := h[f.Session]; ok && !within {
		h[f.Session] = bytes.Contains(f.Raw, []byte(`"`+f.Session+`"`))
	}
}

// only reports whether only headers name a session.
func (h headerSessions) only(id string) bool {
	within, ok := h[id]
	return ok && !within
}
