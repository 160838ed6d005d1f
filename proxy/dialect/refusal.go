package dialect

import (
	"bytes"

	"github.com/acptap/acptap/proxy/wire"
)

// maxRejects is how many bytes of option ids are kept for one question.
const maxRejects = 4 << 10

// rejects returns the ids of the options that refuse the permission.
func rejects(options []byte) (ids idList) {
	for _, option := range wire.Elements(options) {
		kind := wire.Get(option, "kind")
		if id := wire.Get(option, "optionId"); bytes.HasPrefix(kind, []byte(`"reject_`)) && len(ids)+len(id) <= maxRejects {
			ids.add(wire.Text(id))
		}
	}
	return ids
}

// permitted handles the response to a session/request_permission. A cancelled one is not a
// refusal: the turn was cancelled.
func (s *step) permitted(c *call) {
	outcome := wire.Get(s.Result, "outcome")
	if wire.Text(wire.Get(outcome, "outcome")) != "selected" {
		return
	}
	chosen := wire.Text(wire.Get(outcome, "optionId"))
	for id := range c.Rejects.all() {
		if id == chosen {
			s.annotation.Events |= PermissionRefused
		}
	}
}

// elicited handles the response to an elicitation/create.
func (s *step) elicited() {
	if wire.Text(wire.Get(s.Result, "action")) == "decline" {
		s.annotation.Events |= PermissionRefused
	}
}
