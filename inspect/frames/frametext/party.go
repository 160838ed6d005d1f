package frametext

import (
	"cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// meta is where MCP since 2026-07-28 has the contents of the former initialize.
const meta = `_meta.io\.modelcontextprotocol/`

// A Party is what a side says about itself in initialize or server/discover.
type Party struct {
	Who          string // its name and version
	Protocol     string // such as `protocol 2025-06-18`
	Capabilities wire.Value
}

// PartyOf reads the params or the result of such a call.
func PartyOf(v wire.Value) Party {
	var p Party
	for _, key := range []string{"info", "clientInfo", "agentInfo", "serverInfo", meta + "clientInfo", meta + "serverInfo"} {
		if i := v.Get(key); i.IsObject() {
			p.Who = termtext.Spaced(first(i, "title", "name"), Value(i.Get("version")))
			break
		}
	}
	p.Protocol = cmp.Or(
		termtext.Labelled("protocol", first(v, "protocolVersion", meta+"protocolVersion")),
		counted("protocol", Value)(v.Get("supportedVersions")))
	for _, key := range []string{"capabilities", "clientCapabilities", "agentCapabilities", meta + "clientCapabilities"} {
		if c := v.Get(key); c.IsObject() {
			p.Capabilities = c
			break
		}
	}
	return p
}
