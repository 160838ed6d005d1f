package dialect

// A Role is what a method does, or a set of such roles. Code asks for roles, never for
// names, so a method that acts like another only needs a block in methods.txt.
type Role uint64

// The roles. methods.txt spells them in lower case, with hyphens.
const (
	Initializes Role = 1 << iota // settles the dialect of the connection
	Discovers                    // asks which protocol versions the server speaks, without initialize
	Confirms                     // confirms that the client has received the answer to initialize
	LogsIn
	LogsOut
	Pings

	Creates // makes a session
	Copies  // makes a session from another
	Loads   // opens an existing session and replays its history
	Resumes // opens an existing session; replays its history only if the request asks for it
	Lists   // lists the sessions
	Closes
	Deletes
	Prompts        // begins a turn
	CancelsTurns   // cancels all work of a session
	CancelsRequest // cancels one of the sender's own requests
	SetsMode
	SetsModel
	SetsOption
	TellsUpdate // reports what happens in a session

	AsksPermission
	AsksInput // asks the user for input
	InputDone // input that the user was asked for elsewhere has arrived
	ReadsFile
	WritesFile
	StartsCommand
	ReadsOutput
	AwaitsExit
	KillsCommand
	ReleasesTerminal

	CallsTool
	GetsTaskResult // the result of the request that made the task
	ListsTools
	UsesTask
	GetsPrompt
	ChangesRoots // reports that the roots have changed
	TellsProgress
	Logs
	SetsLogLevel

	Connects    // connects to a server that the other side hosts
	Carries     // carries a message to or from that server
	Disconnects // disconnects from that server
)

// Sets of roles.
const (
	Restores     = Loads | Resumes  // opens an existing session
	MakesSession = Creates | Copies // possibly a copy
	Opens        = Restores | MakesSession
	Sets         = SetsMode | SetsModel | SetsOption
	AsksUser     = AsksPermission | AsksInput
	UsesFile     = ReadsFile | WritesFile
	UsesTerminal = StartsCommand | ReadsOutput | AwaitsExit | KillsCommand | ReleasesTerminal
	UsesHosted   = Connects | Carries | Disconnects
)

var roleNames = [...]string{
	"initializes", "discovers", "confirms", "logs-in", "logs-out", "pings",
	"creates", "copies", "loads", "resumes", "lists", "closes", "deletes", "prompts", "cancels-turns", "cancels-request",
	"sets-mode", "sets-model", "sets-option", "tells-update",
	"asks-permission", "asks-input", "input-done", "reads-file", "writes-file",
	"starts-command", "reads-output", "awaits-exit", "kills-command", "releases-terminal",
	"calls-tool", "gets-task-result", "lists-tools", "uses-task", "gets-prompt", "changes-roots", "tells-progress", "logs", "sets-log-level",
	"connects", "carries", "disconnects",
}

// Is reports whether r has at least one of the roles.
func (r Role) Is(oneOf Role) bool { return r&oneOf != 0 }

// RoleOf returns the roles of a method, as Lookup finds it.
func RoleOf(p Protocol, method string) Role { return row(p, method).role() }

// role returns the roles of m, which may be nil.
func (m *Method) role() Role {
	if m == nil {
		return 0
	}
	return m.Role
}

// Does reports whether a method has at least one of the roles, in either protocol.
func Does(method string, oneOf Role) bool { return RoleOf(AnyProtocol, method).Is(oneOf) }

// Does reports whether the method of a has at least one of the roles.
func (a *Annotation) Does(oneOf Role) bool { return Does(a.Method, oneOf) }
