package shim

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// capabilities are what an agent itself offers.
type capabilities struct {
	dialect  dialect.Dialect
	methods  map[string]bool // session methods that it offers
	embedded bool            // prompts may contain resources
}

// clientSupport says which optional updates a client of version 1 supports.
type clientSupport struct {
	plans      bool // plan_update and plan_removed
	compaction bool // compaction_update
}

// methods are the session methods that the shim serves, in the order in which it lists
// them.
var methods = []string{"session/load", "session/resume", "session/list", "session/delete", "session/close", "session/fork"}

// offer handles the client's initialize.
func (s *Shim) offer(m message, out []wire.Frame) []wire.Frame {
	if s.stage != uninitialized || m.env.ID == nil {
		return append(out, m.Frame) // a second initialize, or a notification: the agent will refuse it
	}
	s.stage = initializing
	s.tracker.Observe(&wire.Frame{Dir: m.Dir, Kind: m.env.Kind, Raw: m.Raw}, m.env)
	s.client = clientSupport{
		plans:      m.param("clientCapabilities.plan").IsObject(),
		compaction: m.param("clientCapabilities.session.compaction").IsObject(),
	}
	s.expect(m.env.ID, &call{answered: s.settle})
	return append(out, m.Frame)
}

// settle handles the agent's answer to initialize, and adds to it what the shim serves.
// It then passes on what waited for the answer.
func (s *Shim) settle(m message, out []wire.Frame) []wire.Frame {
	s.tracker.Observe(&wire.Frame{Dir: m.Dir, Kind: m.env.Kind, Raw: m.Raw}, m.env)
	result := wire.ValueOf(m.env.Result)
	d := s.tracker.Connection().Dialect
	switch {
	case m.env.Error != nil:
		s.stage = uninitialized // the client may try again
	case d.Protocol() != dialect.ACP, d != dialect.ACPv1 && !result.Get("capabilities.session").IsObject():
		s.stage = passive
	default:
		s.stage = active
		s.own = offered(d, result)
		s.lookUpIDs()
	}
	f := m.Frame
	if s.stage == active {
		f = s.advertise(m.Frame, result)
	}
	out = append(out, f)
	early := s.early
	s.early = nil
	out = s.goOn(early, out)
	s.endIfIdle()
	return out
}

// offered reads what an agent offers.
func offered(d dialect.Dialect, result wire.Value) capabilities {
	c := capabilities{dialect: d, methods: map[string]bool{}}
	for _, m := range methods {
		c.methods[m] = allowed(d, m, result)
	}
	embedded := result.Get("capabilities.session.prompt.embeddedContext")
	if d == dialect.ACPv1 {
		embedded = result.Get("agentCapabilities.promptCapabilities.embeddedContext")
	}
	c.embedded = embedded.IsObject() || embedded.IsTrue()
	return c
}

// allowed reports whether an agent with a result of initialize offers a method.
func allowed(d dialect.Dialect, method string, result wire.Value) bool {
	return slices.ContainsFunc(dialect.Requires(d, method), func(c dialect.Capability) bool {
		return c.Offered(d, []byte(result.Raw()))
	})
}

// advertise adds to the answer to initialize the capabilities that the shim serves and
// the agent lacks. It lists their methods in _meta, for people who read it.
func (s *Shim) advertise(f wire.Frame, result wire.Value) wire.Frame {
	raw := f.Raw
	var added []byte
	d := s.own.dialect
	for _, method := range methods {
		if m, _ := dialect.Lookup(dialect.ACP, method); m.Removed.Has(d) || allowed(d, method, result) || method == "session/fork" && !s.Fork {
			continue
		}
		if added != nil {
			added = append(added, ',')
		}
		added = append(added, quote(method[len("session/"):])...)
		c, yes := dialect.Requires(d, method)[0], []byte("{}")
		if c.Form == dialect.AsTrue {
			yes = []byte("true")
		}
		raw = wire.Set(raw, yes, c.Keys(d)...)
	}
	if added == nil {
		return f
	}
	where := "result.capabilities._meta"
	if d == dialect.ACPv1 {
		where = "result.agentCapabilities._meta"
	}
	if meta := get(raw, where); !meta.Exists() || meta.IsObject() {
		raw = set(raw, where+".acptap.shim", append(append([]byte{'['}, added...), ']'))
	}
	f.Raw, f.Size, f.Origin = raw, int64(len(raw)), wire.Rewritten
	return f
}

// set sets the value at a path, whose keys have no dots in them, and makes the objects
// that are missing on the path.
func set(raw []byte, path string, value []byte) []byte {
	return wire.Set(raw, value, strings.Split(path, ".")...)
}
