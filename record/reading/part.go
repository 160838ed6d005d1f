package reading

import (
	"errors"
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

	From    uint64                    // the first frame to read; may be changed until the part begins
	Session string                    // of an agent: the one whose servers are read, empty for all; of a server: that it was started for, empty if nobody knows yet
	Has     func(*dialect.Frame) bool // of an agent: which frames are of the subject; nil: all

	last  uint64        // number of the last frame that was read
	at    time.Duration // of that frame
	begun bool
	over  bool // no frame follows
}

// Agents returns the parts that are the tapes of an agent, which are sorted by time.
func Agents(tapes ...*record.Tape) ([]Part, error) {
	var parts []Part
	var began time.Duration
	for _, tape := range tapes {
		info, err := tape.Info()
		if err != nil {
			return nil, err
		}
		if len(parts) > 0 {
			began = since(&info, &parts[0].Info, began)
		}
		parts = append(parts, Part{Tape: tape, Info: info, Began: began})
		began += info.Last
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

// find adds the tapes of servers that are in the store and not yet known. begun is one that has
// just begun, which a list may not tell everything about; nil: none.
func (r *Reader) find(begun *record.Info) error {
	l, err := r.store.List()
	if err != nil {
		return err
	}
	for i := range l.Tapes {
		if one := &l.Tapes[i]; begun != nil && one.Tape == begun.Tape {
			*one, begun = *begun, nil
		} else if one.Complete {
			r.listed[one.Tape] = true
		}
	}
	if begun != nil {
		l.Tapes = append(l.Tapes, *begun)
	}
	n := record.NestingOf(l.Tapes)
	for _, agent := range r.Parts[:r.agents] {
		if err := r.findBelow(n, agent, agent, ""); err != nil {
			return err
		}
	}
	r.links.resolve(r.Servers(), r.Parts)
	return nil
}

// findBelow adds the tapes that are nested in the part above, which is the tape of an agent or
// below it. name is what follows the agent's tape in a reference to the part above.
func (r *Reader) findBelow(n record.Nesting, agent, above *Part, name string) error {
	children := n.Children(above.Info.Tape)
	for i, ref := range record.ServerRefs(children) {
		info := children[i]
		if session, _ := r.links.said.Session(info.Start.Parent.Link); above == agent && agent.Session != "" && session != agent.Session {
			continue
		}
		p := r.known[info.Tape]
		if p == nil {
			tape, err := r.store.Open(info.Tape)
			if errors.Is(err, record.ErrNoTape) { // deleted meanwhile
				continue
			}
			if err != nil {
				return err
			}
			p = r.add(Part{
				Tape: tape, Info: info, Began: since(&info, &r.Parts[0].Info, agent.Began),
				Server: (name + ref)[1:], Agent: agent.Index, Above: above.Index,
			})
		}
		if r.all {
			if err := r.findBelow(n, agent, p, name+ref); err != nil {
				return err
			}
		}
	}
	return nil
}
