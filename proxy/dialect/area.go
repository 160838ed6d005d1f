package dialect

// An Area is what a message is about, for readers who look for one thing among others.
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
