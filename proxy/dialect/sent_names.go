package dialect

// The names of the methods that acptap itself sends, or serves in the place of an agent.
// What others send is asked for its roles.
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
