package reading

import (
	"iter"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// A Part is one of the tapes that are read together.
type Part struct {
	Tape   *record.Tape  // for the goroutine of the Reader; others clone it
	Info   record.Info   // when it was found
	Began  time.Duration // since the first tape of the agent began
	Server string        // what follows the + in a reference to the tape, such as files~2; empty: it is the agent's
	Index  int           // in Reader.Parts
	Agent  int           // of a server: which part is the tape of its agent
	Above  int           // of a server: which part it is nested in

	// Of the tape of an agent:
	Store  *record.Store                   // that it is in, where its servers are looked for; nil: it has none
	From   uint64                          // the first frame to read; may be changed until the part begins
	Frames iter.Seq2[dialect.Frame, error] // what is read in place of the frames of Tape; nil: those
	Has    func(*dialect.Frame) bool       // which frames are of the subject; nil: all

	// Session is, of an agent, the one whose servers are read; empty: all are. Of a server it is
	// the one that the server was started for; empty: nobody knows yet.
	Session string

	last  uint64        // number of the last frame that was read
	at    time.Duration // of that frame
	begun bool
	over  bool // no frame follows
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

// since returns when a tape began since the first one did; unknown if nobody knows.
func since(info, first *record.Info, unknown time.Duration) time.Duration {
	if info.Start.Time.IsZero() || first.Start.Time.IsZero() {
		return unknown
	}
	return max(info.Start.Time.Sub(first.Start.Time), 0)
}

// IsServer reports whether the part is the tape of a server.
func (p *Part) IsServer() bool { return p.Server != "" }
