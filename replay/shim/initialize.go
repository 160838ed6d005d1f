package shim

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// agentOffers is what the agent itself offers.
type agentOffers struct {
	methods  map[string]bool // only in acts; session methods that it offers and has not yet failed at
	embedded bool            // prompts may contain resources; does not change, so jobs may read it
}

// clientSupport says which optional updates a version 1 client supports.
type clientSupport struct {
	plans      bool // plan_update and plan_removed
	compaction bool // compaction_update
}

// v2 reports whether a connection speaks version 2, in either draft.
func v2(d dialect.Dialect) bool { return d == dialect.ACPv2 || d == dialect.ACPv2Early }

// methods are the session methods that the shim serves, in listing order.
var methods = []string{dialect.LoadSession, dialect.ResumeSession, dialect.ListSessions, dialect.DeleteSession, dialect.CloseSession, dialect.ForkSession}

// onInitialize handles the client's initialize. A notification or a second initialize
// passes: it is up to the agent to refuse it.
func (s *Shim) onInitialize(m message, out []wire.Frame) []wire.Frame {
	if s.stage != uninitialized || m.env.ID == nil {
		return append(out, m.Frame)
	}
	s.stage = initializing
	s.tracker.Observe(&wire.Frame{Dir: m.Dir, Kind: m.env.Kind, Raw: m.Raw}, m.env)
	s.supports = clientSupport{
		plans:      m.param("clientCapabilities.plan").IsObject(),
		compaction: m.param("clientCapabilities.session.compaction").IsObject(),
	}
	s.expect(m.env.ID, &call{answered: s.onInitialized})
	return append(out, m.Frame)
}

// onInitialized handles the agent's answer to initialize. It adds the methods that the
// shim serves, and then handles the frames that waited for the answer.
func (s *Shim) onInitialized(m message, out []wire.Frame) []wire.Frame {
	s.tracker.Observe(&wire.Frame{Dir: m.Dir, Kind: m.env.Kind, Raw: m.Raw}, m.env)
	result := m.env.Result.Value()
	d := s.tracker.Connection().Dialect
	f := m.Frame
	switch {
	case m.env.Error != nil:
		s.stage = uninitialized // the client may try again
	case d.Protocol() != dialect.ACP, d != dialect.ACPv1 && !result.Get("capabilities.session").IsObject():
		s.stage = passive
	default:
		s.stage = active
		s.dialect = d
		s.offers = readOffers(d, result)
		s.lookUpIDs()
		f = s.advertise(f)
	}
	early := s.early
	s.early = nil
	out = s.handleHeld(early, append(out, f))
	s.endIfIdle()
	return out
}

// readOffers reads what an agent offers from its initialize result.
func readOffers(d dialect.Dialect, result wire.Value) agentOffers {
	o := agentOffers{methods: map[string]bool{}}
	for _, method := range methods {
		o.methods[method] = dialect.Allowed(d, dialect.AgentSide, method, []byte(result.Raw()))
	}
	embedded := result.Get("capabilities.session.prompt.embeddedContext")
	if d == dialect.ACPv1 {
		embedded = result.Get("agentCapabilities.promptCapabilities.embeddedContext")
	}
	o.embedded = embedded.IsObject() || embedded.IsTrue()
	return o
}

// advertise adds to the answer to initialize the methods that the shim serves and the
// agent lacks. It also lists these methods in _meta for human readers.
func (s *Shim) advertise(f wire.Frame) wire.Frame {
	raw := f.Raw
	var added members
	for _, method := range methods {
		if m, _ := dialect.Lookup(dialect.ACP, method); m.Removed.Has(s.dialect) || s.offers.methods[method] || method == dialect.ForkSession && !s.Fork {
			continue
		}
		added = added.element(wire.Quote(method[len("session/"):]))
		c, yes := dialect.Requires(s.dialect, method)[0], []byte("{}")
		if c.Form == dialect.AsTrue {
			yes = []byte("true")
		}
		raw = wire.Set(raw, yes, c.Keys(s.dialect)...)
	}
	if added == nil {
		return f
	}
	where := "result.capabilities._meta"
	if s.dialect == dialect.ACPv1 {
		where = "result.agentCapabilities._meta"
	}
	if meta := wire.ValueAt(raw, where); !meta.Exists() || meta.IsObject() {
		raw = set(raw, where+".acptap.shim", added.array())
	}
	f.Raw, f.Size, f.Origin = raw, int64(len(raw)), wire.Rewritten
	return f
}
