package reading

import (
	"iter"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// A Part is one of the tapes that are read together.
type Part struct {
	Tape   *record.Tape  // owned by the Reader's goroutine; others clone it
	Info   record.Info   // when it was found
	Began  time.Duration // since the first tape of the agent began
	Server string        // what follows the + in a reference to the tape, such as files~2; empty: the agent's tape
	Index  int           // in Reader.Parts
	Agent  int           // for a server: the part that is its agent's tape
	Above  int           // for a server: the part it is nested in

	// For the tape of an agent:
	Store  *record.Store                   // the store that holds it and is searched for its servers; nil: none
	From   uint64                          // the first frame to read; may be changed until the part begins
	Frames iter.Seq2[dialect.Frame, error] // read instead of the frames of Tape; nil: none
	Has    func(*dialect.Frame) bool       // reports whether a frame is of the subject; nil: all are

	// Session is, for an agent, the session whose servers are read; empty: those of all
	// sessions. For a server it is the session that the server was started for; empty:
	// not yet known.
	Session string

	last  uint64        // number of the last frame that was read
	at    time.Duration // of that frame
	begun bool
	over  bool // no more frames will come
}

// Agents returns the parts that are the tapes of an agent.
func Agents(tapes ...*record.Tape) ([]Part, error) {
	var parts []Part
	for _, tape := range tapes {
		info, err := tape.Info()
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{Tape: tape, Info: info})
	}
	return parts, nil
}

// since returns the time from the start of the first tape to that of another, or unknown
// if either is unknown.
func since(info, first *record.Info, unknown time.Duration) time.Duration {
	if info.Start.Time.IsZero() || first.Start.Time.IsZero() {
		return unknown
	}
	return max(info.Start.Time.Sub(first.Start.Time), 0)
}

// IsServer reports whether the part is the tape of a server.
func (p *Part) IsServer() bool { return p.Server != "" }

// Holds reports whether a frame of the part belongs to the subject.
func (p *Part) Holds(f *dialect.Frame) bool { return p.Has == nil || p.Has(f) }
