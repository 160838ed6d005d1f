package dialect

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// A Capability is something that one side offers and certain methods require.
type Capability struct {
	Dialects Dialects // the dialects that have it
	Side     Side     // who offers it
	Form     Offer
	Path     string   // where it is, as in IDLocation; relative to what depends on the Offer
	Allows   []string // methods, and variants of session/update; if both sides send a request, the receiver's capability counts
}

// An Offer is how a capability is offered.
type Offer uint8

// The forms of offers.
const (
	AsObject Offer = iota // an object among the side's capabilities; it may be empty
	AsTrue                // true among the side's capabilities
	AsList                // a non-empty list next to the capabilities
	AtSetup               // not in initialize: in the client's request for a session, or in the agent's answer
)

// capabilities lists which capability allows which methods. Methods not listed need none.
var capabilities = []Capability{
	{one | early, AgentSide, AsList, "authMethods", []string{"authenticate"}},
	{two, AgentSide, AsList, "authMethods", []string{"auth/login", "auth/logout"}},
	{one | early, AgentSide, AsObject, "auth.logout", []string{"logout"}},

	{one, AgentSide, AsTrue, "loadSession", []string{"session/load"}},
	{one, AgentSide, AsObject, "sessionCapabilities.resume", []string{"session/resume"}},
	{one, AgentSide, AsObject, "sessionCapabilities.list", []string{"session/list"}},
	{one, AgentSide, AsObject, "sessionCapabilities.delete", []string{"session/delete"}},
	{one, AgentSide, AsObject, "sessionCapabilities.close", []string{"session/close"}},
	{one, AgentSide, AsObject, "sessionCapabilities.fork", []string{"session/fork"}},
	{early, AgentSide, AsObject, "session", []string{"session/new", "session/prompt", "session/cancel"}},
	{early, AgentSide, AsObject, "session.resume", []string{"session/resume"}},
	{early, AgentSide, AsObject, "session.list", []string{"session/list"}},
	{early, AgentSide, AsObject, "session.close", []string{"session/close"}},
	{two, AgentSide, AsObject, "session", []string{"session/new", "session/resume", "session/list", "session/close", "session/prompt", "session/cancel"}},
	// The current draft had it until 2026-07-02.
	{early | two, AgentSide, AsObject, "session.load", []string{"session/load"}},
	{early | two, AgentSide, AsObject, "session.delete", []string{"session/delete"}},
	{early | two, AgentSide, AsObject, "session.fork", []string{"session/fork"}},

	{one, AgentSide, AtSetup, "modes", []string{"session/set_mode"}},
	{one, AgentSide, AtSetup, "models", []string{"session/set_model"}},
	{acp, AgentSide, AtSetup, "configOptions", []string{"session/set_config_option"}},

	{acp, AgentSide, AsObject, "providers", []string{"providers/list", "providers/set", "providers/disable"}},
	{acp, AgentSide, AsObject, "nes", []string{"nes/start", "nes/suggest", "nes/accept", "nes/reject", "nes/close"}},
	{acp, AgentSide, AsObject, "nes.events.document.didOpen", []string{"document/didOpen"}},
	{acp, AgentSide, AsObject, "nes.events.document.didChange", []string{"document/didChange"}},
	{acp, AgentSide, AsObject, "nes.events.document.didClose", []string{"document/didClose"}},
	{acp, AgentSide, AsObject, "nes.events.document.didSave", []string{"document/didSave"}},
	{acp, AgentSide, AsObject, "nes.events.document.didFocus", []string{"document/didFocus"}},

	{one, ClientSide, AsTrue, "fs.readTextFile", []string{"fs/read_text_file"}},
	{one, ClientSide, AsTrue, "fs.writeTextFile", []string{"fs/write_text_file"}},
	{one, ClientSide, AsTrue, "terminal", []string{"terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"}},
	{acp, ClientSide, AsObject, "elicitation.form", []string{"elicitation/create"}},
	{acp, ClientSide, AsObject, "elicitation.url", []string{"elicitation/create", "elicitation/complete"}},
	{acp, ClientSide, AtSetup, "mcpServers", []string{"mcp/connect"}}, // one of the type acp
	{one, ClientSide, AsObject, "plan", []string{"plan_update", "plan_removed"}},
	{one, ClientSide, AsObject, "session.compaction", []string{"compaction_update", "compaction_summary_chunk"}},

	{mcp, AgentSide, AsObject, "tools", []string{"tools/list", "tools/call"}},
	{mcp, AgentSide, AsTrue, "tools.listChanged", []string{"notifications/tools/list_changed"}},
	{mcp, AgentSide, AsObject, "resources", []string{"resources/list", "resources/templates/list", "resources/read"}},
	{mcp, AgentSide, AsTrue, "resources.subscribe", []string{"resources/subscribe", "resources/unsubscribe", "notifications/resources/updated"}},
	{mcp, AgentSide, AsTrue, "resources.listChanged", []string{"notifications/resources/list_changed"}},
	{mcp, AgentSide, AsObject, "prompts", []string{"prompts/list", "prompts/get"}},
	{mcp, AgentSide, AsTrue, "prompts.listChanged", []string{"notifications/prompts/list_changed"}},
	{mcp, AgentSide, AsObject, "completions", []string{"completion/complete"}},
	{mcp, AgentSide, AsObject, "logging", []string{"logging/setLevel", "notifications/message"}},
	{mcp, AgentSide, AsObject, "sessions", []string{"session/create", "session/delete", "sessions/create", "sessions/delete"}},
	{mcp, ClientSide, AsObject, "sampling", []string{"sampling/createMessage"}},
	{mcp, ClientSide, AsObject, "elicitation", []string{"elicitation/create"}},
	{mcp, ClientSide, AsObject, "elicitation.form", []string{"elicitation/create"}},
	{mcp, ClientSide, AsObject, "elicitation.url", []string{"elicitation/create", "notifications/elicitation/complete"}},
	{mcp, ClientSide, AsObject, "roots", []string{"roots/list"}},
	{mcp, ClientSide, AsTrue, "roots.listChanged", []string{"notifications/roots/list_changed"}},
	{legacy, AgentSide, AsObject, "tasks", []string{"tasks/get", "tasks/result", "notifications/tasks/status"}},
	{legacy, AgentSide, AsObject, "tasks.list", []string{"tasks/list"}},
	{legacy, AgentSide, AsObject, "tasks.cancel", []string{"tasks/cancel"}},
	{legacy, ClientSide, AsObject, "tasks", []string{"tasks/get", "tasks/result", "notifications/tasks/status"}},
	{legacy, ClientSide, AsObject, "tasks.list", []string{"tasks/list"}},
	{legacy, ClientSide, AsObject, "tasks.cancel", []string{"tasks/cancel"}},
}

// Sets used in the table.
const (
	acp = one | early | two
	mcp = legacy | modern
)

// Capabilities returns the capabilities of a dialect, or all of them for Unknown.
func Capabilities(d Dialect) []Capability {
	return slices.DeleteFunc(slices.Clone(capabilities), func(c Capability) bool { return !c.in(d) })
}

// Requires returns the capabilities that allow a method, or a variant of session/update,
// in a dialect, or in any dialect for Unknown. One of them is enough; with none listed,
// the method needs none.
func Requires(d Dialect, method string) []Capability {
	return slices.DeleteFunc(Capabilities(d), func(c Capability) bool { return !slices.Contains(c.Allows, method) })
}

// Allowed reports whether side allows the other side to send it a method: the method
// requires none of its capabilities, or side offered one of them in said, its part of
// initialize. For Unknown, capabilities of any dialect count.
func Allowed(d Dialect, side Side, method string, said []byte) bool {
	required := slices.DeleteFunc(Requires(d, method), func(c Capability) bool { return c.Side != side || c.Form == AtSetup })
	return len(required) == 0 || slices.ContainsFunc(required, func(c Capability) bool { return c.Offered(d, said) })
}

func (c Capability) in(d Dialect) bool { return d == Unknown || c.Dialects.Has(d) }

// Keys returns where a message of a dialect offers c, as Get, Set and Delete expect it:
// in the client's initialize or in the response. It is empty if c is not offered there.
func (c Capability) Keys(d Dialect) []string {
	var keys []string
	switch c.Form {
	case AtSetup:
		return nil
	case AsObject, AsTrue:
		keys = capabilitiesOf(c.Side, d)
	}
	for key, path := "", c.Path; path != ""; {
		key, path = wire.CutKey(path)
		keys = append(keys, key)
	}
	if c.Side == ClientSide {
		return slices.Insert(keys, 0, "params")
	}
	return slices.Insert(keys, 0, "result")
}

// capabilitiesOf returns where in params or result a side puts its capabilities.
func capabilitiesOf(side Side, d Dialect) []string {
	switch {
	case d == ACPv1 && side == ClientSide:
		return []string{"clientCapabilities"}
	case d == ACPv1:
		return []string{"agentCapabilities"}
	case d == MCPModern && side == ClientSide: // in each request
		return []string{"_meta", metaPrefix + "clientCapabilities"}
	}
	return []string{"capabilities"}
}

// Offered reports whether said, the params or result of initialize, offers c in a
// dialect; for Unknown, in any dialect that has c. It is as tolerant as peers are: an
// object counts as true and true as an object.
func (c Capability) Offered(d Dialect, said []byte) bool {
	for _, in := range dialects {
		if !c.in(in) || d != Unknown && d != in {
			continue
		}
		keys := c.Keys(in)
		if keys == nil {
			continue
		}
		value := wire.Get(said, keys[1:]...)
		if c.Form == AsList {
			for range wire.Elements(value) {
				return true
			}
		} else if len(value) > 0 && (value[0] == '{' || string(value) == "true") {
			return true
		}
	}
	return false
}

var dialects = []Dialect{ACPv1, ACPv2Early, ACPv2, MCPLegacy, MCPModern}
