package dialect

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// An IDLocation is where a method's frame has an id that one side makes and the other
// sends back. Such ids differ from run to run.
type IDLocation struct {
	Path  string // in the message: keys joined by dots, a dot in a key escaped; # is each element of an array
	Class Class
	Maker Maker
	New   bool // the frame introduces the id; otherwise it sends it back
}

// A Maker says who made an id, as seen from the message that carries it. Both sides
// number their own requests, tokens and tasks, so both may use the same id at once.
type Maker uint8

// The makers.
const (
	Sender   Maker = iota // the message's sender
	Receiver              // the message's receiver
	Client                // the client, whoever sent the message
)

var makerNames = [...]string{"sender", "receiver", "client"}

// MadeBy returns the direction of the side that made the id at p; from is the direction
// of the message that carries it.
func (p IDLocation) MadeBy(from wire.Direction) wire.Direction {
	switch p.Maker {
	case Receiver:
		return from.Opposite()
	case Client:
		return wire.ClientToAgent
	}
	return from
}

// mcpIDLocations are locations in any MCP frame, besides those of its method. Messages
// about a task come from the side that works on it.
var mcpIDLocations = []IDLocation{
	{Path: "params._meta." + metaToken, Class: ProgressToken, New: true},
	{Path: "params._meta." + escaped(metaSubscription), Class: RequestID, Maker: Client},
	{Path: "result._meta." + escaped(metaSubscription), Class: RequestID, Maker: Client},
	{Path: "result.task.taskId", Class: TaskID, New: true},
	{Path: related("params"), Class: TaskID, Maker: Sender},
}

// mcpAnswerLocation is where a response names the task created for its request.
var mcpAnswerLocation = IDLocation{Path: related("result"), Class: TaskID, Maker: Receiver}

func related(below string) string { return below + "._meta." + escaped(metaTask) + ".taskId" }

func escaped(key string) string { return strings.ReplaceAll(key, ".", `\.`) }

// IDLocations returns where a method's frames have ids. Some methods have the same name
// in both protocols, but share no location.
func IDLocations(method string) []IDLocation {
	found := slices.Clone(of(method).ids)
	if row(ACP, method) != nil && row(MCP, method) == nil {
		return found
	}
	found = append(found, mcpIDLocations...)
	if !Does(method, GetsTaskResult) {
		found = append(found, mcpAnswerLocation)
	}
	return found
}

// NamedID returns the id of a class by which a request or notification refers to
// something made earlier, and the direction of the side that made it. The id is JSON, or
// nil if there is none; from is the direction of the message.
func NamedID(method string, class Class, from wire.Direction, params []byte) (id []byte, by wire.Direction) {
	p, id := inParams(method, class, false, params)
	return id, p.MadeBy(from)
}

// NamedSession returns the id of the session that a request or notification names, or "" if
// it names none. A session of next-edit suggestions does not count.
func NamedSession(method string, e wire.Envelope) string {
	if OfEditSession(method) {
		return ""
	}
	for _, id := range [][]byte{wire.Get(e.Params, "sessionId"), e.Session, wire.Get(e.Params, "_meta", metaSession, "sessionId")} {
		if session := wire.Text(id); session != "" {
			return session
		}
	}
	return ""
}

// MadeID returns the id of a class that a request assigns to something new, as JSON, or
// nil if there is none.
func MadeID(method string, class Class, params []byte) (id []byte) {
	_, id = inParams(method, class, true, params)
	return id
}

// inParams returns the first id of a class in params, and its location.
func inParams(method string, class Class, isNew bool, params []byte) (IDLocation, []byte) {
	for _, p := range IDLocations(method) {
		path, ok := strings.CutPrefix(p.Path, "params.")
		if !ok || p.Class != class || p.New != isNew || strings.Contains(path, "#") {
			continue
		}
		id := params
		for key := ""; path != ""; {
			key, path = wire.CutKey(path)
			id = wire.Get(id, key)
		}
		if wire.Present(id) {
			return p, id
		}
	}
	return IDLocation{}, nil
}
