package conform

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// A turn is what is known of the turns of a session.
type turn struct {
	prompts   []*Call // open, the oldest first
	cancelled Moment  // of the newest session/cancel while a prompt was open; Seq 0: none since the newest prompt
	ended     int     // how many have ended
	end       Moment  // of the newest answer to a prompt; Seq 0: none
	stop      string  // its stop reason
}

// maxPrompts is how many open prompts of a session are remembered.
const maxPrompts = 64

func (t *turn) observe(s *Step) {
	switch {
	case s.Method == "session/prompt" && s.Kind() == wire.Request:
		if len(t.prompts) == 0 {
			t.cancelled = Moment{}
		}
		if call := s.Conn.calls.Find(s.Frame.Dir, s.Envelope.ID); call != nil && len(t.prompts) < maxPrompts {
			t.prompts = append(t.prompts, call)
		}
	case s.Method == "session/prompt" && s.Call != nil:
		t.prompts = slices.DeleteFunc(t.prompts, func(c *Call) bool { return c == s.Call })
		t.ended++
		t.end, t.stop = s.Moment(), text(s.Result("stopReason"))
	case s.Method == "session/cancel" && len(t.prompts) > 0:
		t.cancelled = s.Moment()
	}
}
