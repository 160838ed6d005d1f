package dialect

// The methods of the Model Context Protocol in the revisions 2024-11-05 to
// 2025-11-25 (legacy) and 2026-07-28 (modern), and of the closed proposals for
// sessions: SEP-1364, and the data-layer draft of 2026-02-23. Frames of a
// proposal's session carry its id beside method or in _meta, so the place
// Nowhere only means that a method adds none of its own.
var mcpMethods = []Method{
	{Name: "initialize", From: ClientSide, Form: AsRequest, Effect: Initializes, Stable: legacy, Removed: modern},
	{Name: "notifications/initialized", From: ClientSide, Form: AsNotification, Stable: legacy, Removed: modern},
	{Name: "server/discover", From: ClientSide, Form: AsRequest, Stable: modern},
	{Name: "ping", From: EitherSide, Form: AsRequest, Stable: legacy, Removed: modern},
	{Name: "notifications/cancelled", From: EitherSide, Form: AsNotification, Session: ByID, Stable: legacy | modern},
	{Name: "notifications/progress", From: EitherSide, Form: AsNotification, Session: ByID, Stable: legacy | modern},

	{Name: "tools/list", From: ClientSide, Form: AsRequest, Stable: legacy | modern, Requires: "a: tools"},
	{Name: "tools/call", From: ClientSide, Form: AsRequest, Stable: legacy | modern, Requires: "a: tools"},
	{Name: "notifications/tools/list_changed", From: AgentSide, Form: AsNotification, Stable: legacy | modern, Requires: "a: tools.listChanged"},
	{Name: "resources/list", From: ClientSide, Form: AsRequest, Stable: legacy | modern, Requires: "a: resources"},
	{Name: "resources/templates/list", From: ClientSide, Form: AsRequest, Stable: legacy | modern, Requires: "a: resources"},
	{Name: "resources/read", From: ClientSide, Form: AsRequest, Stable: legacy | modern, Requires: "a: resources"},
	{Name: "resources/subscribe", From: ClientSide, Form: AsRequest, Stable: legacy, Removed: modern, Requires: "a: resources.subscribe"},
	{Name: "resources/unsubscribe", From: ClientSide, Form: AsRequest, Stable: legacy, Removed: modern, Requires: "a: resources.subscribe"},
	{Name: "notifications/resources/list_changed", From: AgentSide, Form: AsNotification, Stable: legacy | modern, Requires: "a: resources.listChanged"},
	{Name: "notifications/resources/updated", From: AgentSide, Form: AsNotification, Stable: legacy | modern, Requires: "a: resources.subscribe"},
	{Name: "prompts/list", From: ClientSide, Form: AsRequest, Stable: legacy | modern, Requires: "a: prompts"},
	{Name: "prompts/get", From: ClientSide, Form: AsRequest, Stable: legacy | modern, Requires: "a: prompts"},
	{Name: "notifications/prompts/list_changed", From: AgentSide, Form: AsNotification, Stable: legacy | modern, Requires: "a: prompts.listChanged"},
	{Name: "completion/complete", From: ClientSide, Form: AsRequest, Stable: legacy | modern, Requires: "a: completions"},
	{Name: "logging/setLevel", From: ClientSide, Form: AsRequest, Stable: legacy, Removed: modern, Requires: "a: logging"},
	{Name: "notifications/message", From: AgentSide, Form: AsNotification, Stable: legacy | modern, Requires: "a: logging"},

	// In the modern revision these three are entries of a result instead.
	{Name: "sampling/createMessage", From: AgentSide, Form: AsRequest, Stable: legacy, Removed: modern, Requires: "c: sampling"},
	{Name: "elicitation/create", From: AgentSide, Form: AsRequest, Stable: legacy, Removed: modern, Requires: "c: elicitation"},
	{Name: "roots/list", From: AgentSide, Form: AsRequest, Stable: legacy, Removed: modern, Requires: "c: roots"},
	{Name: "notifications/roots/list_changed", From: ClientSide, Form: AsNotification, Stable: legacy, Removed: modern, Requires: "c: roots.listChanged"},
	{Name: "notifications/elicitation/complete", From: AgentSide, Form: AsNotification, Stable: legacy, Requires: "c: elicitation.url"},

	{Name: "subscriptions/listen", From: ClientSide, Form: AsRequest, Stable: modern},
	{Name: "notifications/subscriptions/acknowledged", From: AgentSide, Form: AsNotification, Stable: modern},

	// Experimental in 2025-11-25, an extension since.
	{Name: "tasks/get", From: EitherSide, Form: AsRequest, Session: ByID, Unstable: legacy | modern, Requires: "tasks"},
	{Name: "tasks/result", From: EitherSide, Form: AsRequest, Session: ByID, Unstable: legacy, Requires: "tasks"},
	{Name: "tasks/list", From: EitherSide, Form: AsRequest, Unstable: legacy, Requires: "tasks.list"},
	{Name: "tasks/cancel", From: EitherSide, Form: AsRequest, Session: ByID, Unstable: legacy | modern, Requires: "tasks.cancel"},
	{Name: "notifications/tasks/status", From: EitherSide, Form: AsNotification, Session: ByID, Unstable: legacy, Requires: "tasks"},

	// SEP-1364 says sessions/… in its prose and session/… in its types.
	{Name: "session/create", From: ClientSide, Form: AsRequest, Session: InResult, Effect: Opens, Proposals: a1, Requires: "a: sessions"},
	{Name: "session/delete", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Deletes, Proposals: a1, Requires: "a: sessions"},
	{Name: "sessions/create", From: ClientSide, Form: AsRequest, Session: InResult, Effect: Opens, Proposals: a1 | dls, Requires: "a: sessions"},
	{Name: "sessions/delete", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Deletes, Proposals: a1 | dls, Requires: "a: sessions"},
	{Name: "terminate", From: ClientSide, Form: AsRequest, Session: InParams, Effect: Closes, Proposals: a2},
}
