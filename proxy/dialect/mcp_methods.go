package dialect

// The methods of the Model Context Protocol in the revisions 2024-11-05 to
// 2025-11-25 (legacy) and 2026-07-28 (modern), and of the closed proposals for
// sessions: SEP-1364, and the data-layer draft of 2026-02-23. Frames of a
// proposal's session carry its id beside method or in _meta, so
// Nowhere only means that a method adds none of its own.
var mcpMethods = []Method{
	{Name: "initialize", From: ClientSide, Form: AsRequest, Effect: Initializes, Stable: legacy, Removed: modern},
	{Name: "notifications/initialized", From: ClientSide, Form: AsNotification, Stable: legacy, Removed: modern},
	{Name: "server/discover", From: ClientSide, Form: AsRequest, Stable: modern},
	{Name: "ping", From: EitherSide, Form: AsRequest, Stable: legacy, Removed: modern},
	{Name: "notifications/cancelled", From: EitherSide, Form: AsNotification, Session: ByID, Effect: CancelsRequest, Stable: legacy | modern},
	{Name: "notifications/progress", From: EitherSide, Form: AsNotification, Session: ByID, Stable: legacy | modern},

	{Name: "tools/list", From: ClientSide, Form: AsRequest, Stable: legacy | modern},
	{Name: "tools/call", From: ClientSide, Form: AsRequest, Stable: legacy | modern},
	{Name: "notifications/tools/list_changed", From: AgentSide, Form: AsNotification, Stable: legacy | modern},
	{Name: "resources/list", From: ClientSide, Form: AsRequest, Stable: legacy | modern},
	{Name: "resources/templates/list", From: ClientSide, Form: AsRequest, Stable: legacy | modern},
	{Name: "resources/read", From: ClientSide, Form: AsRequest, Stable: legacy | modern},
	{Name: "resources/subscribe", From: ClientSide, Form: AsRequest, Stable: legacy, Removed: modern},
	{Name: "resources/unsubscribe", From: ClientSide, Form: AsRequest, Stable: legacy, Removed: modern},
	{Name: "notifications/resources/list_changed", From: AgentSide, Form: AsNotification, Stable: legacy | modern},
	{Name: "notifications/resources/updated", From: AgentSide, Form: AsNotification, Stable: legacy | modern},
	{Name: "prompts/list", From: ClientSide, Form: AsRequest, Stable: legacy | modern},
	{Name: "prompts/get", From: ClientSide, Form: AsRequest, Stable: legacy | modern},
	{Name: "notifications/prompts/list_changed", From: AgentSide, Form: AsNotification, Stable: legacy | modern},
	{Name: "completion/complete", From: ClientSide, Form: AsRequest, Stable: legacy | modern},
	{Name: "logging/setLevel", From: ClientSide, Form: AsRequest, Stable: legacy, Removed: modern},
	{Name: "notifications/message", From: AgentSide, Form: AsNotification, Stable: legacy | modern},

	// In the modern revision these three are entries of a result instead.
	{Name: "sampling/createMessage", From: AgentSide, Form: AsRequest, Stable: legacy, Removed: modern},
	{Name: "elicitation/create", From: AgentSide, Form: AsRequest, Stable: legacy, Removed: modern},
	{Name: "roots/list", From: AgentSide, Form: AsRequest, Stable: legacy, Removed: modern},
	{Name: "notifications/roots/list_changed", From: ClientSide, Form: AsNotification, Stable: legacy, Removed: modern},
	{Name: "notifications/elicitation/complete", From: AgentSide, Form: AsNotification, Stable: legacy},

	{Name: "subscriptions/listen", From: ClientSide, Form: AsRequest, Ends: AtClose, Stable: modern},
	{Name: "notifications/subscriptions/acknowledged", From: AgentSide, Form: AsNotification, Stable: modern},

	// Experimental in 2025-11-25, an extension since.
	{Name: "tasks/get", From: EitherSide, Form: AsRequest, Session: ByID, Unstable: legacy | modern},
	{Name: "tasks/result", From: EitherSide, Form: AsRequest, Session: ByID, Unstable: legacy},
	{Name: "tasks/list", From: EitherSide, Form: AsRequest, Unstable: legacy},
	{Name: "tasks/cancel", From: EitherSide, Form: AsRequest, Session: ByID, Unstable: legacy | modern},
	{Name: "notifications/tasks/status", From: EitherSide, Form: AsNotification, Session: ByID, Unstable: legacy},

	// SEP-1364 says sessions/… in its prose and session/… in its types.
	{Name: "session/create", From: ClientSide, Form: AsRequest, Session: InResult, Effect: Opens, Proposals: a1},
	{Name: "session/delete", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Deletes, Proposals: a1},
	{Name: "sessions/create", From: ClientSide, Form: AsRequest, Session: InResult, Effect: Opens, Proposals: a1 | dls},
	{Name: "sessions/delete", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Deletes, Proposals: a1 | dls},
	{Name: "terminate", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Closes, Proposals: a2},
}
