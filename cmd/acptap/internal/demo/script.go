package demo

import (
	"embed"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// scripts holds conversations, one message per line, which begins with its sender:
// client, agent or stderr; history is an agent's message that any number of updates may
// precede. A duration before the message is the pause before it.
//
// In the reload, the client loads the session from a restarted agent and continues it. The
// agent sees another session, and one more block in the prompt.
//
//go:embed scripts
var scripts embed.FS

// Session is the id of the recorded session.
const Session = "sess-demo-1"

// sessionDir is the working directory of the session.
const sessionDir = "/home/demo/stats"

// stepPause is the default pause before a message: long enough to keep frames in separate
// chunks, and to make the conversation last just over a second.
const stepPause = 15 * time.Millisecond

// A Step is a message of a script.
type Step struct {
	By      wire.Direction
	Line    string
	pause   time.Duration // before the message, unless fast
	history bool          // any number of updates may precede it
}

// Script returns the whole conversation, in version 1 of the Agent Client
// Protocol: in the first turn the agent finds, fixes and tests a bug; the second
// turn is cancelled. Ids and texts are the same each time.
func Script() []Step { return script("conversation") }

// script returns the steps of scripts/NAME.txt.
func script(name string) (steps []Step) {
	text, err := scripts.ReadFile("scripts/" + name + ".txt")
	if err != nil {
		panic("demo: " + err.Error()) // cannot happen: the files are embedded
	}
	for line := range strings.Lines(string(text)) {
		s := Step{pause: stepPause}
		var by string
		by, s.Line, _ = strings.Cut(strings.TrimSpace(line), " ")
		switch by {
		case "client":
			s.By = wire.ClientToAgent
		case "stderr":
			s.By = wire.AgentStderr
		default:
			s.By, s.history = wire.AgentToClient, by == "history"
		}
		first, rest, _ := strings.Cut(s.Line, " ")
		if pause, err := time.ParseDuration(first); err == nil {
			s.pause, s.Line = pause, rest
		}
		steps = append(steps, s)
	}
	return steps
}
