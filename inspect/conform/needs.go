package conform

import "github.com/acptap/acptap/proxy/wire"

// lacks returns why the tape does not have what the rule needs here; empty if it does.
// It is the whole policy of when nobody is accused: no rule looks at what is missing.
func (r *Report) lacks(e *Evidence) string {
	s := r.step
	if e.Of != nil && e.Of.lost != "" {
		return e.Of.lost
	}
	if e.In != nil && e.In.lacks() != "" {
		return e.In.lacks()
	}
	needs := r.active.rule.Needs
	if needs != Frame && s.Call != nil && s.Call.lost != "" {
		return s.Call.lost
	}
	switch needs {
	case Pair:
		if s.Frame.Kind == wire.Oversized {
			return "frame " + number(s.Frame.Seq) + " is too large to be read whole"
		}
	case Hello:
		return s.Conn.lacksHello()
	case Session:
		switch {
		case e.In != nil:
		case s.Session == nil:
			return "the set-up of the session is not on the tape"
		default:
			return s.Session.lacks()
		}
	case Connection:
		return s.Conn.lost
	case End:
		if !s.Conn.over {
			return "the end of the connection is not on the tape"
		}
	}
	return ""
}
