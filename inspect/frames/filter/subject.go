package filter

import (
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Subject is a frame together with what other frames reveal about it. A Tracker fills
// in all fields; a caller that shows frames may already know some. Zero fields are
// unknown and match no term.
type Subject struct {
	*dialect.Frame
	Start   time.Time     // when the tape began, in the user's time zone
	Latency time.Duration // of a response: time since its request
	Turn    int           // number of the frame's turn in its session, from 1
	Tool    Tool          // the frame's tool call, if the frame itself does not describe it
	Open    bool          // a request that has no response on the tape, and was not cancelled (MCP)

	Unanswered bool // an open request at the end of the tape, which is a failure

	Answer dialect.Events // events of the answer to a permission request

	Server   string // name of the server that the tape belongs to, if a recorded agent started it
	ServerOf string // the agent's session for which the server was started

	Marks []string // names of the rules of acptap proxy that changed the frame; for a mark, of its rule

	// Findings are the frame's problems under the rules of acptap check. Each term of a
	// query is matched against the findings separately: rule:ACP44* by:agent selects a
	// frame with one finding of such a rule and one, perhaps another, that blames the
	// agent.
	Findings []*conform.Finding
}

// Failure returns how the frame reports that something went wrong, including what only
// other frames reveal.
func (s *Subject) Failure() dialect.Failure {
	if s.Unanswered {
		return dialect.Unanswered
	}
	return s.Frame.Failure()
}

// bare reports whether the frame's bytes are missing.
func (s *Subject) bare() bool { return s.Raw == nil && s.Size > 0 }

// messages reports whether fits accepts the message or an entry of a batch, where i is
// the entry's index.
func (s *Subject) messages(fits func(i int, message []byte) bool) verdict {
	switch {
	case s.bare():
		return perhaps
	case s.Kind != wire.Batch:
		return sure(fits(0, s.Raw))
	}
	found := false
	wire.Entries(s.Raw, func(i int, entry []byte) bool {
		found = fits(i, entry)
		return !found
	})
	return sure(found)
}
