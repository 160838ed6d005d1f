package dialect

import "strings"

// An Area is what a message is about, for readers who look for one thing among
// others.
type Area uint8

// The areas.
const (
	NoArea       Area = iota // of methods that are in no table
	Conversation             // what is said: prompts, messages, thoughts, plans, sampling (MCP)
	Tools                    // what the agent does, or a server's tools
	Permission               // what the user is asked
	Services                 // what one side reads, writes and runs through the other: files, terminals, resources
	LifeCycle                // connection, login, sessions, and how they are set
)

// AreaOf returns the area of a method, or of a variant of session/update: of what
// it is in either protocol.
func AreaOf(method, update string) Area {
	if method == "session/update" {
		u, _ := LookupUpdate(update)
		return u.Entity.area()
	}
	if row(AnyProtocol, method) == nil {
		return NoArea
	}
	for _, a := range areas {
		if strings.HasPrefix(method, a.prefix) {
			return a.area
		}
	}
	return LifeCycle
}

// areas has what is not the life cycle. The first prefix that a method has counts.
var areas = []struct {
	prefix string
	area   Area
}{
	{"session/prompt", Conversation},
	{"session/cancel", Conversation},
	{"session/request_permission", Permission},
	{"elicitation/", Permission},
	{"notifications/elicitation/", Permission},
	{"fs/", Services},
	{"terminal/", Services},
	{"mcp/", Services},
	{"nes/", Services},
	{"document/", Services},
	{"proxy/successor", NoArea}, // the message that it carries is about something
	{"_proxy/successor", NoArea},
	{"prompts/", Conversation},
	{"notifications/prompts/", Conversation},
	{"completion/", Conversation},
	{"sampling/", Conversation},
	{"tools/", Tools},
	{"notifications/tools/", Tools},
	{"tasks/", Tools},
	{"notifications/tasks/", Tools},
	{"notifications/progress", Tools},
	{"resources/", Services},
	{"notifications/resources/", Services},
	{"roots/", Services},
	{"notifications/roots/", Services},
}

// area returns what an update of an entity is about.
func (e Entity) area() Area {
	switch e {
	case NoEntity:
		return NoArea
	case ToolCall, Terminal: // version 2 has terminals of the agent
		return Tools
	case State, Commands, Mode, Config, SessionInfo, Usage:
		return LifeCycle
	}
	return Conversation
}
