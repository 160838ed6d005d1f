package summary

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
)

// A stretch is what an agent writes or thinks without doing anything else.
type stretch struct {
	of    dialect.Entity
	first uint64
	began time.Duration

	compacts bool // the agent says that it shortens its context
}

// A stretches finds the longest one of several sessions. The zero value is ready to use.
type stretches map[string]stretch

// take processes a frame. It returns the stretch that the frame belongs to, which lasts until
// now; first is 0 if there is none. A silence ends a stretch, unless the agent compacts its context.
func (s *stretches) take(f *dialect.Frame) (of stretch) {
	if f.Dir != wire.AgentToClient || f.Origin == wire.Withheld || !f.Kind.IsMessage() {
		return stretch{}
	}
	u, known := dialect.LookupUpdate(f.Update)
	switch u.Entity {
	case dialect.AgentMessage, dialect.Thought:
	case dialect.ToolCall, dialect.Plan:
		known = false
		fallthrough
	default:
		if !known {
			delete(*s, f.Session)
		}
		return stretch{}
	}
	one, known := (*s)[f.Session]
	if known && one.of == u.Entity && (one.compacts || f.Slow() == dialect.NotSlow) {
		return one
	}
	if *s == nil {
		*s = stretches{}
	}
	if known || len(*s) < maxNames {
		(*s)[f.Session] = stretch{u.Entity, f.Seq, f.At, compacting().MatchString(wire.Text(wire.Get(f.Raw, "params", "update", "content", "text")))}
	}
	return stretch{}
}

// compacting matches what an agent says before it shortens its context.
var compacting = lazyregexp.New(`(?i)^\W*compacting(?: (?:the )?(?:context|conversation))?\W*$`)

// name says what the agent did.
func (s *stretch) name() string {
	switch {
	case s.compacts:
		return "compacting the context"
	case s.of == dialect.Thought:
		return "thinking"
	}
	return "writing an answer"
}
