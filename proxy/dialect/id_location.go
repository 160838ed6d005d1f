package dialect

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// An IDLocation is where a frame of a method has an id that one side made and the
// other gives back, so that it differs from run to run.
type IDLocation struct {
	Path  string // in the message: keys with dots between, a dot in a key escaped; # is each element of an array
	Class Class
	Maker Maker
	New   bool // the id is new there; else it is given back
}

// A Maker says who made an id, as seen from the message that it stands in. Both
// sides number their requests, tokens and tasks for themselves, so the same id
// may be in use for two of them at once.
type Maker uint8

// The makers.
const (
	Sender   Maker = iota // of the message
	Receiver              // of the message
	Client                // whoever sent it
)

var makerNames = [...]string{"sender", "receiver", "client"}

// MadeBy returns the direction of the side that made the id at p, where from is
// that of the message with the id.
func (p IDLocation) MadeBy(from wire.Direction) wire.Direction {
	switch p.Maker {
	case Receiver:
		return from.Opposite()
	case Client:
		return wire.ClientToAgent
	}
	return from
}

// mcpIDLocations are those that frames of MCP have beside their method's own. What is
// told or asked for the sake of a task comes from the side that works on it.
var mcpIDLocations = []IDLocation{
	{Path: "params._meta." + metaToken, Class: ProgressToken, New: true},
	{Path: "params._meta." + escaped(metaSubscription), Class: RequestID, Maker: Client},
	{Path: "result._meta." + escaped(metaSubscription), Class: RequestID, Maker: Client},
	{Path: "result.task.taskId", Class: TaskID, New: true},
	{Path: related("params"), Class: TaskID, Maker: Sender},
}

// mcpAnswerLocation is where the answer to a request names the task for which that was
// made.
var mcpAnswerLocation = IDLocation{Path: related("result"), Class: TaskID, Maker: Receiver}

func related(below string) string { return below + "._meta." + escaped(metaTask) + ".taskId" }

func escaped(key string) string { return strings.ReplaceAll(key, ".", `\.`) }

// IDLocations returns where the frames of a method have ids of this kind. The two
// protocols share names, but no location in their messages.
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

// NamedID returns the id of a class by which a request or notification names
// something that was made before, and the direction of the side that made it. The
// id is JSON, nil if there is none; from is the direction of the message.
func NamedID(method string, class Class, from wire.Direction, params []byte) (id []byte, by wire.Direction) {
	p, id := inParams(method, class, false, params)
	return id, p.MadeBy(from)
}

// NamedSession returns the id of the session that a request or notification names
// itself, empty if it names none. A session of next-edit suggestions does not count.
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

// MadeID returns the id of a class that a request gives to something new, as JSON,
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
