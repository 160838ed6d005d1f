package dialect

// The names of the methods that acptap itself sends, or serves in place of an agent. For
// methods of others, ask for their roles.
const (
	Initialize        = "initialize"
	NowInitialized    = "notifications/initialized"
	NewSession        = "session/new"
	LoadSession       = "session/load"
	ResumeSession     = "session/resume"
	ForkSession       = "session/fork"
	ListSessions      = "session/list"
	DeleteSession     = "session/delete"
	CloseSession      = "session/close"
	Prompt            = "session/prompt"
	CancelTurns       = "session/cancel"
	RequestPermission = "session/request_permission"
	SessionUpdate     = "session/update"
)
