package dialect

// The methods of the Agent Client Protocol, from its schemas: version 1 (crate
// 1.21.0), the draft of version 2 (2.0.0-alpha.3, 2026-08-22), and that draft
// as it was on 2026-06-24 (v2-early). Unstable rows stand in the files
// schema.unstable.json only.
var acpMethods = []Method{
	{Name: "initialize", From: ClientSide, Form: AsRequest, Effect: Initializes, Stable: one | early | two},
	{Name: "authenticate", From: ClientSide, Form: AsRequest, Ends: ByUser, Stable: one | early, Removed: two},
	{Name: "logout", From: ClientSide, Form: AsRequest, Stable: one | early, Removed: two},
	{Name: "auth/login", From: ClientSide, Form: AsRequest, Ends: ByUser, Stable: two},
	{Name: "auth/logout", From: ClientSide, Form: AsRequest, Stable: two},

	{Name: "session/new", From: ClientSide, Form: AsRequest, Session: InResult, Effect: Opens, Stable: one | early | two},
	// The draft of version 2 kept session/load until 2026-07-02, when its
	// initialize looked as it does now: only the capability can tell.
	{Name: "session/load", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Opens, Stable: one | early, Removed: two},
	{Name: "session/resume", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Opens, Stable: one | early | two},
	{Name: "session/fork", From: ClientSide, Form: AsRequest, Session: FromParams, Effect: Opens, Unstable: one | early | two},
	{Name: "session/list", From: ClientSide, Form: AsRequest, Session: InList, Stable: one | early | two},
	{Name: "session/delete", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Deletes, Stable: one | early | two},
	{Name: "session/close", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Closes, Stable: one | early | two},
	{Name: "session/prompt", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Prompts, Stable: one | early | two},
	{Name: "session/cancel", From: ClientSide, Form: AsNotification, Session: InParams, Effect: CancelsTurns, Stable: one | early | two},
	{Name: "session/set_mode", From: ClientSide, Form: AsRequest, Session: InParams, Stable: one, Removed: early | two},
	// Unstable until 2026-06-01, then dropped in favour of config options.
	{Name: "session/set_model", From: ClientSide, Form: AsRequest, Session: InParams, Removed: one},
	{Name: "session/set_config_option", From: ClientSide, Form: AsRequest, Session: InParams, Stable: one | early | two},

	{Name: "providers/list", From: ClientSide, Form: AsRequest, Unstable: one | early | two},
	{Name: "providers/set", From: ClientSide, Form: AsRequest, Unstable: one | early | two},
	{Name: "providers/disable", From: ClientSide, Form: AsRequest, Unstable: one | early | two},

	// Next-edit suggestions have sessions of their own, whose ids only share
	// the key sessionId with those of the conversations.
	{Name: "nes/start", From: ClientSide, Form: AsRequest, Session: OtherResult, Unstable: one | early | two},
	{Name: "nes/suggest", From: ClientSide, Form: AsRequest, Session: OtherParams, Unstable: one | early | two},
	{Name: "nes/accept", From: ClientSide, Form: AsNotification, Session: OtherParams, Unstable: one | early | two},
	{Name: "nes/reject", From: ClientSide, Form: AsNotification, Session: OtherParams, Unstable: one | early | two},
	{Name: "nes/close", From: ClientSide, Form: AsRequest, Session: OtherParams, Unstable: one | early | two},
	{Name: "document/didOpen", From: ClientSide, Form: AsNotification, Session: OtherParams, Unstable: one | early | two},
	{Name: "document/didChange", From: ClientSide, Form: AsNotification, Session: OtherParams, Unstable: one | early | two},
	{Name: "document/didClose", From: ClientSide, Form: AsNotification, Session: OtherParams, Unstable: one | early | two},
	{Name: "document/didSave", From: ClientSide, Form: AsNotification, Session: OtherParams, Unstable: one | early | two},
	{Name: "document/didFocus", From: ClientSide, Form: AsNotification, Session: OtherParams, Unstable: one | early | two},

	{Name: "session/update", From: AgentSide, Form: AsNotification, Session: InParams, Stable: one | early | two},
	{Name: "session/request_permission", From: AgentSide, Form: AsRequest, Session: InParams, Stable: one | early | two},
	{Name: "fs/read_text_file", From: AgentSide, Form: AsRequest, Session: InParams, Stable: one, Removed: early | two},
	{Name: "fs/write_text_file", From: AgentSide, Form: AsRequest, Session: InParams, Stable: one, Removed: early | two},
	{Name: "terminal/create", From: AgentSide, Form: AsRequest, Session: InParams, Stable: one, Removed: early | two},
	{Name: "terminal/output", From: AgentSide, Form: AsRequest, Session: InParams, Stable: one, Removed: early | two},
	{Name: "terminal/wait_for_exit", From: AgentSide, Form: AsRequest, Session: InParams, Stable: one, Removed: early | two},
	{Name: "terminal/kill", From: AgentSide, Form: AsRequest, Session: InParams, Stable: one, Removed: early | two},
	{Name: "terminal/release", From: AgentSide, Form: AsRequest, Session: InParams, Stable: one, Removed: early | two},
	// The schema does not say whose request the scope requestId is. What a
	// user can be asked about outside of a session is the client's: a login,
	// a setup.
	{Name: "elicitation/create", From: AgentSide, Form: AsRequest, Session: InParamsOrByID, Stable: one | two, Unstable: early},
	{Name: "elicitation/complete", From: AgentSide, Form: AsNotification, Stable: one | two, Unstable: early},

	{Name: "mcp/connect", From: AgentSide, Form: AsRequest, Session: ByServer, Unstable: one | early | two},
	{Name: "mcp/message", From: EitherSide, Form: AnyForm, Session: ByConnection, Unstable: one | early | two},
	{Name: "mcp/disconnect", From: AgentSide, Form: AsRequest, Session: ByConnection, Unstable: one | early | two},
	{Name: "$/cancel_request", From: EitherSide, Form: AsNotification, Session: ByID, Effect: CancelsRequest, Stable: one | two, Unstable: early},

	// Proxy chains (RFD, draft). The names with an underscore were in use
	// before the draft had any.
	{Name: "proxy/initialize", From: ClientSide, Form: AsRequest, Effect: Initializes, Unstable: one | early | two},
	{Name: "_proxy/initialize", From: ClientSide, Form: AsRequest, Effect: Initializes, Unstable: one | early | two},
	{Name: "proxy/successor", From: EitherSide, Form: AnyForm, Session: Inside, Unstable: one | early | two},
	{Name: "_proxy/successor", From: EitherSide, Form: AnyForm, Session: Inside, Unstable: one | early | two},
}
