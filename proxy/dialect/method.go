package dialect

import "slices"

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
	Removed   Dialects  // where it was specified once; peers still use it
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

// Where says how the session of a method's frame is found. A response without a place of
// its own belongs to the session of its request.
type Where uint8

// The places.
const (
	Nowhere        Where = iota
	InParams             // params.sessionId
	InResult             // result.sessionId, or result.session.sessionId (data layer)
	FromParams           // params.sessionId is the source, result.sessionId the new session
	InList               // result.sessions[].sessionId: mentioned, not addressed
	OtherParams          // params.sessionId, but of another id space (next-edit sessions)
	OtherResult          // result.sessionId, of that id space
	ByID                 // the session of what an id refers to: a request, a progress token, a task (IDLocation)
	InParamsOrByID       // params.sessionId, or else ByID
	ByServer             // params.serverId was declared by a session's setup
	ByConnection         // params.connectionId was made by mcp/connect
	Inside               // params is a frame of its own: {method, params}
)

var whereNames = [...]string{"", "params", "result", "source", "list", "edit-params", "edit-result", "id", "params-or-id", "server", "connection", "inside"}

// Ends says what ends the wait for a response.
type Ends uint8

// What ends it.
const (
	ByReceiver Ends = iota // the receiver, when its work is done
	ByUser                 // the user, who must log in
	AtClose                // the end of the connection: until then, everything asked for comes in other messages
)

var endsNames = [...]string{"", "by-user", "at-close"}

// EndsAtClose reports whether a request of a method properly stays open until the
// connection ends.
func EndsAtClose(method string) bool { return row(AnyProtocol, method).ends() == AtClose }

// ends returns what ends the wait for a response to m, which may be nil.
func (m *Method) ends() Ends {
	if m == nil {
		return ByReceiver
	}
	return m.Ends
}

// Words returns what a frame's line says of the params and of the result of a method, in
// the words of methods.txt.
func Words(method string) (says, answers string) {
	d := of(method)
	return d.says, d.answers
}

// Wraps reports whether frames of an ACP method carry a frame of another method, which a
// component of a proxy chain passes along.
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

// Has reports whether at least one of the dialects is in the set.
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

// Lookup returns a method. With AnyProtocol, a name that exists in both protocols gives
// ACP's.
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
