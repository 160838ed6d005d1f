package dialect

import "slices"

// A Method is what a method is in one protocol, as methods.txt and names.txt say. Three
// names are in both protocols, and have a Method in each: initialize, elicitation/create
// and session/delete.
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
	Removed   Dialects  // where it was once, and is still met
	Proposals Proposals // the proposals that make it

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

// Where says how a frame of a method is found to belong to a session. A
// response without a place of its own belongs to the session of its request.
type Where uint8

// The places.
const (
	Nowhere        Where = iota
	InParams             // params.sessionId
	InResult             // result.sessionId, or result.session.sessionId (data layer)
	FromParams           // params.sessionId is the source, result.sessionId the new session
	InList               // result.sessions[].sessionId: told of, not addressed
	OtherParams          // params.sessionId, but of another id space (next-edit sessions)
	OtherResult          // result.sessionId of that space
	ByID                 // it is that of what an id names: a request, a progress token, a task (IDLocation)
	InParamsOrByID       // params.sessionId, or else so
	ByServer             // params.serverId was declared by a session's setup
	ByConnection         // params.connectionId was made by mcp/connect
	Inside               // params is a frame of its own: {method, params}
)

var whereNames = [...]string{"", "params", "result", "source", "list", "edit-params", "edit-result", "id", "params-or-id", "server", "connection", "inside"}

// Ends says what ends the wait for a response.
type Ends uint8

// What ends it.
const (
	ByReceiver Ends = iota // the work of whoever got the request
	ByUser                 // the user, who is to log in
	AtClose                // the end of the connection: until then all that is asked for is sent otherwise
)

var endsNames = [...]string{"", "by-user", "at-close"}

// EndsAtClose reports whether a request of a method is open until the connection ends, as
// it should be.
func EndsAtClose(method string) bool { return row(AnyProtocol, method).ends() == AtClose }

// ends is that of a row, which may be nil.
func (m *Method) ends() Ends {
	if m == nil {
		return ByReceiver
	}
	return m.Ends
}

// Words returns what the lines of frames say of the params and of the result of a method, in
// the words of methods.txt.
func Words(method string) (says, answers string) {
	d := of(method)
	return d.says, d.answers
}

// Wraps reports whether frames of an ACP method carry a frame of another method,
// which a component of a proxy chain passes on.
func Wraps(method string) bool {
	m := row(ACP, method)
	return m != nil && m.Session == Inside
}

// OfEditSession reports whether what an ACP method calls a session is a session of
// next-edit suggestions.
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

// Lookup returns a method. With AnyProtocol a name that is in both protocols gives
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

// row returns the row of a method, nil if there is none.
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
