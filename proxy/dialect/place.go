package dialect

import "slices"

// A Place is where a frame of a method has an id that one side made and the
// other gives back, so that it differs from run to run.
type Place struct {
	Path  string // in the message, as gjson and sjson understand it; # is each element of an array
	Class Class
	Made  bool // the id is new there; else it is given back
}

// places is the table of the ids that a client makes. The agent's terminals of
// version 2 stand at some of the same places. The tokens of MCP's requests are
// in Places itself.
var places = map[string][]Place{
	"terminal/create":        {{Path: "result.terminalId", Class: TerminalID, Made: true}},
	"terminal/output":        {{Path: "params.terminalId", Class: TerminalID}},
	"terminal/wait_for_exit": {{Path: "params.terminalId", Class: TerminalID}},
	"terminal/kill":          {{Path: "params.terminalId", Class: TerminalID}},
	"terminal/release":       {{Path: "params.terminalId", Class: TerminalID}},
	"session/update": {
		{Path: "params.update.terminalId", Class: TerminalID},
		{Path: "params.update.content.terminalId", Class: TerminalID},
		{Path: "params.update.content.#.terminalId", Class: TerminalID},
	},
	"session/request_permission": {
		{Path: "params.toolCall.content.#.terminalId", Class: TerminalID},
		{Path: "params.subject.terminalId", Class: TerminalID},
		{Path: "params.subject.toolCall.content.#.terminalId", Class: TerminalID},
	},

	"session/new":    declared,
	"session/load":   declared,
	"session/resume": declared,
	"session/fork":   declared,
	"mcp/connect": {
		{Path: "params.serverId", Class: ServerID},
		{Path: "result.connectionId", Class: ConnectionID, Made: true},
	},
	"mcp/message":    {{Path: "params.connectionId", Class: ConnectionID}},
	"mcp/disconnect": {{Path: "params.connectionId", Class: ConnectionID}},

	"elicitation/create":      {{Path: "params.requestId", Class: RequestID}},
	"$/cancel_request":        {{Path: "params.requestId", Class: RequestID}},
	"notifications/cancelled": {{Path: "params.requestId", Class: RequestID}},
	"notifications/progress":  {{Path: "params.progressToken", Class: ProgressToken}},
}

// declared are the servers that a session's setup names.
var declared = []Place{{Path: "params.mcpServers.#.serverId", Class: ServerID, Made: true}}

// token is made by each request of MCP that wants to be told of its progress.
var token = Place{Path: "params._meta.progressToken", Class: ProgressToken, Made: true}

// Places returns where the frames of a method have ids of this kind.
func Places(method string) []Place {
	found := slices.Clone(places[method])
	if m := row(MCP, method); m != nil && m.Form == AsRequest {
		found = append(found, token)
	}
	return found
}
