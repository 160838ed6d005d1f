package dialect

import "slices"

// A Method is one row of the tables: what a method is in one protocol. Three
// names stand in both protocols, and have a row in each: initialize,
// elicitation/create and session/delete.
type Method struct {
	Name    string
	From    Side
	Form    Form
	Session Where
	Effect  Effect
	Ends    Ends

	Stable    Dialects  // where it is specified
	Unstable  Dialects  // where it is specified as unstable
	Removed   Dialects  // where it stood once, and is still met
	Proposals Proposals // the proposals that make it
}

// Protocol returns the protocol whose table m stands in.
func (m Method) Protocol() Protocol {
	if (m.Stable | m.Unstable | m.Removed).Has(ACPv1, ACPv2Early, ACPv2) {
		return ACP
	}
	return MCP
}

// A Side is who sends a method's requests or notifications.
type Side uint8

// The sides.
const (
	EitherSide Side = iota
	ClientSide
	AgentSide // MCP's server
)

// A Form says whether a method is sent with an id.
type Form uint8

// The forms.
const (
	AnyForm Form = iota
	AsRequest
	AsNotification
)

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

// An Effect is what a notification does, or the success of a request.
type Effect uint8

// The effects.
const (
	NoEffect       Effect = iota
	Initializes           // settles the dialect of the connection
	Opens                 // a session
	Closes                // a session
	Deletes               // a session
	Prompts               // begins a turn with the request
	CancelsTurns          // all work of a session
	CancelsRequest        // one of the sender's own
)

// Ends says what ends the wait for a response.
type Ends uint8

// What ends it.
const (
	ByReceiver Ends = iota // the work of whoever got the request
	ByUser                 // the user, who is to log in
	AtClose                // the end of the connection: until then all that is asked for is sent otherwise
)

// EffectOf returns the effect of a method, as Lookup finds it.
func EffectOf(p Protocol, method string) Effect { return row(p, method).effect() }

// EndsAtClose reports whether a request of a method is open until the connection ends, as
// it should be.
func EndsAtClose(method string) bool { return row(AnyProtocol, method).ends() == AtClose }

// effect is that of a row, which may be nil.
func (m *Method) effect() Effect {
	if m == nil {
		return NoEffect
	}
	return m.Effect
}

// ends is that of a row, which may be nil.
func (m *Method) ends() Ends {
	if m == nil {
		return ByReceiver
	}
	return m.Ends
}

// Restores reports whether a method opens a session that exists already.
func (m Method) Restores() bool { return m.Effect == Opens && m.Session == InParams }

// MakesSession reports whether a method opens a new session, be it a copy.
func (m Method) MakesSession() bool { return m.Effect == Opens && m.Session != InParams }

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

// Sets used in the tables.
const (
	one    = Dialects(1) << ACPv1
	early  = Dialects(1) << ACPv2Early
	two    = Dialects(1) << ACPv2
	legacy = Dialects(1) << MCPLegacy
	modern = Dialects(1) << MCPModern

	a1  = Proposals(1) << SEP1364A1
	a2  = Proposals(1) << SEP1364A2
	dls = Proposals(1) << DataLayer
)

// Lookup returns the row of a method. With AnyProtocol a name that stands in
// both tables gives ACP's row.
func Lookup(p Protocol, method string) (Method, bool) {
	if m := row(p, method); m != nil {
		return *m, true
	}
	return Method{}, false
}

// Methods returns the rows of both tables, ACP first, in the order of their
// specifications.
func Methods() []Method { return slices.Concat(acpMethods, mcpMethods) }

var (
	acpRows = rows(acpMethods)
	mcpRows = rows(mcpMethods)
)

func rows(table []Method) map[string]*Method {
	m := make(map[string]*Method, len(table))
	for i := range table {
		m[table[i].Name] = &table[i]
	}
	return m
}

// row returns the row of a method, nil if there is none.
func row(p Protocol, method string) *Method {
	switch p {
	case ACP:
		return acpRows[method]
	case MCP:
		return mcpRows[method]
	}
	if m := acpRows[method]; m != nil {
		return m
	}
	return mcpRows[method]
}
