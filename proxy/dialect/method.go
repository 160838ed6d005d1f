package dialect

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// A Method describes a method of one protocol, as in methods.txt and names.txt. Three names
// exist in both protocols, with a Method in each: initialize, elicitation/create and
// session/delete.
type Method struct {
	Name    string
	Role    Role
	Area    Area
	From    Side
	Form    Form
	Session Where
	Ends    Ends

	Stable    Dialects  // where it is specified
	Unstable  Dialects  // where it is specified as unstable
	Removed   Dialects  // where it was once specified; peers still use it
	Proposals Proposals // the proposals that introduce it

	protocol Protocol
	details  *details
}

// Protocol returns the protocol that has m.
func (m Method) Protocol() Protocol { return m.protocol }

// A Side is who sends a method's requests or notifications.
type Side uint8

// The sides.
const (
	EitherSide Side = iota
	ClientSide
	AgentSide // MCP's server
)

// Sends reports whether a side may send what goes in a direction.
func (s Side) Sends(d wire.Direction) bool {
	return s == EitherSide || (s == ClientSide) == (d == wire.ClientToAgent)
}

var sideNames = [...]string{"either", "client", "agent"}

// A Form says whether a method is sent with an id.
type Form uint8

// The forms.
const (
	AnyForm Form = iota
	AsRequest
	AsNotification
)

var formNames = [...]string{"any", "request", "notification"}

// Where says how to find the session of a method's frame. A response with no place of its
// own belongs to its request's session.
type Where uint8

// The places.
const (
	Nowhere        Where = iota
	InParams             // params.sessionId
	InResult             // result.sessionId, or result.session.sessionId (data layer)
	FromParams           // params.sessionId is the source, result.sessionId the new session
	InList               // result.sessions[].sessionId: mentioned, not addressed
	OtherParams          // params.sessionId, but in another id space (next-edit sessions)
	OtherResult          // result.sessionId, in that id space
	ByID                 // the session of what an id refers to: a request, a progress token, a task (IDLocation)
	InParamsOrByID       // params.sessionId, or else ByID
	ByServer             // params.serverId was declared by a session's setup
	ByConnection         // params.connectionId was made by mcp/connect
	Inside               // params is itself a frame: {method, params}
)

var whereNames = [...]string{"", "params", "result", "source", "list", "edit-params", "edit-result", "id", "params-or-id", "server", "connection", "inside"}

// Ends says what ends the wait for a response.
type Ends uint8

// What ends it.
const (
	ByReceiver Ends = iota // the receiver, when its work is done
	ByUser                 // the user, who must log in
	AtClose                // the end of the connection: until then, everything requested comes in other messages
)

var endsNames = [...]string{"", "by-user", "at-close"}

// EndsAtClose reports whether a method's request normally stays open until the connection
// ends.
func EndsAtClose(method string) bool { return row(AnyProtocol, method).ends() == AtClose }

// ends returns what ends the wait for a response to m, which may be nil.
func (m *Method) ends() Ends {
	if m == nil {
		return ByReceiver
	}
	return m.Ends
}

// Words returns what the line of a frame says about its params and about its result, in
// the words of methods.txt.
func Words(method string) (says, answers string) {
	d := of(method)
	return d.says, d.answers
}

// Wraps reports whether frames of an ACP method carry a frame of another method, passed
// along by a component of a proxy chain.
func Wraps(method string) bool {
	m := row(ACP, method)
	return m != nil && m.Session == Inside
}

// OfEditSession reports whether an ACP method's session is a session of next-edit
// suggestions.
func OfEditSession(method string) bool {
	m := row(ACP, method)
	return m != nil && (m.Session == OtherParams || m.Session == OtherResult)
}

// Dialects is a set of dialects.
type Dialects uint8

// SetOf returns a set of dialects.
func SetOf(dialects ...Dialect) (s Dialects) {
	for _, d := range dialects {
		s |= 1 << d
	}
	return s
}

// Has reports whether the set has one or more of the dialects.
func (s Dialects) Has(oneOf ...Dialect) bool {
	return slices.ContainsFunc(oneOf, func(d Dialect) bool { return s>>d&1 == 1 })
}

// Proposals is a set of proposals.
type Proposals uint8

// Has reports whether p is in the set.
func (s Proposals) Has(p Proposal) bool { return s>>p&1 == 1 }

// Sets used in tables.
const (
	one    = Dialects(1) << ACPv1
	early  = Dialects(1) << ACPv2Early
	two    = Dialects(1) << ACPv2
	legacy = Dialects(1) << MCPLegacy
	modern = Dialects(1) << MCPModern
)

// Lookup returns a method. If a name exists in both protocols, AnyProtocol returns ACP's.
func Lookup(p Protocol, method string) (Method, bool) {
	if m := row(p, method); m != nil {
		return *m, true
	}
	return Method{}, false
}

// Methods returns the methods of both protocols, in the order of methods.txt.
func Methods() (list []Method) {
	for _, m := range table().list {
		list = append(list, *m)
	}
	return list
}

// row returns the row of a method, or nil if there is none.
func row(p Protocol, method string) *Method {
	t := table()
	switch p {
	case ACP:
		return t.acp[method]
	case MCP:
		return t.mcp[method]
	}
	if m := t.acp[method]; m != nil {
		return m
	}
	return t.mcp[method]
}

// The methods that acptap itself sends, or serves in place of an agent. For other
// methods, ask for their roles.
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
	SetMode           = "session/set_mode"
	SetModel          = "session/set_model"
	SetOption         = "session/set_config_option"
	RequestPermission = "session/request_permission"
	SessionUpdate     = "session/update"
)

// An Area is what a message is about, for readers who look for one topic.
type Area uint8

// The areas.
const (
	NoArea       Area = iota // methods in no table
	Conversation             // what is said: prompts, messages, thoughts, plans, sampling (MCP)
	Tools                    // what the agent does, or a server's tools
	Permission               // questions to the user
	Services                 // what one side reads, writes and runs through the other: files, terminals, resources
	LifeCycle                // connection, login, sessions and their settings
)

var areaNames = [...]string{"none", "conversation", "tools", "permission", "services", "life-cycle"}

// AreaOf returns the area of a method, or of a variant of session/update, in either
// protocol.
func AreaOf(method, update string) Area {
	if Does(method, TellsUpdate) {
		u, _ := LookupUpdate(update)
		return u.Entity.area()
	}
	if m := row(AnyProtocol, method); m != nil {
		return m.Area
	}
	return NoArea
}

// area returns what an update of an entity is about.
func (e Entity) area() Area {
	switch e {
	case NoEntity:
		return NoArea
	case ToolCall, Terminal: // in version 2 terminals are the agent's
		return Tools
	case State, Commands, Mode, Config, SessionInfo, Usage:
		return LifeCycle
	}
	return Conversation
}
