package conform

import (
	"time"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Grace is how long two frames in opposite directions may have crossed, if nothing
// else is said. The middle sees when it forwarded a frame, not when it was read.
const Grace = 250 * time.Millisecond

// maxFindings is how many findings of a rule by one side on a tape are kept in full.
const maxFindings = 1000

// Options say what a Checker knows of the tapes beforehand.
type Options struct {
	Protocol dialect.Protocol // AnyProtocol: found from the traffic

	// Beginning says that the first frame of the tape, if it has the number 1, is the
	// first that passed on its connection: acptap recorded the tape. Otherwise the tape
	// has to begin with initialize for that to be known.
	Beginning bool

	// Between says that acptap may have made, changed or withheld frames. The tape is
	// then judged twice at once: as the client saw it, when only the client can be at
	// fault, and as the agent saw it. Without it, such a frame ends what can be judged.
	Between bool

	// Own judges what acptap made, too. It is for acptap's own tests.
	Own bool

	Grace time.Duration // 0: Grace
	Rules []*Rule       // nil: all
}

// A Checker judges the frames of a tape, or of several tapes of one agent in
// succession, as it is fed with them. It accepts every frame. Its memory is bounded;
// where it has to forget, it accuses nobody by what it has forgotten. It is not safe
// for concurrent use.
type Checker struct {
	options  Options
	judges   []*judge
	verdicts []verdict // of the tape; one for each rule
	findings []Finding
	replays  bounded.Map[uint64, replay] // of the tape, by the Seq of their requests
	tape     int
	last     uint64 // Seq of the last frame of the tape
}

// A verdict is what became of a rule on a tape.
type verdict struct {
	tried bool
	open  string          // why an occasion could not be judged; the first reason
	found [Acptap + 1]int // by who is at fault
}

// NewChecker returns a Checker at the beginning of a tape.
func NewChecker(o Options) *Checker {
	if o.Grace == 0 {
		o.Grace = Grace
	}
	if o.Rules == nil {
		o.Rules = Rules()
	}
	c := &Checker{options: o, verdicts: make([]verdict, len(o.Rules)), replays: newReplays()}
	sides := []Fault{Sender}
	if o.Between {
		sides = []Fault{Client, Agent}
	}
	for _, side := range sides {
		c.judges = append(c.judges, newJudge(c, side))
	}
	return c
}

// Add takes the next frame of the tape, with its bytes. It keeps no part of them.
func (c *Checker) Add(f *dialect.Frame) {
	var e wire.Envelope
	switch f.Kind {
	case wire.Stderr, wire.Mark, wire.Batch, wire.Invalid, wire.Body:
	default:
		e = wire.Scan(f.Raw)
	}
	jumped := f.Seq != c.last+1 && c.last != 0
	for _, j := range c.judges {
		if jumped {
			j.conn.gap("frames are missing before frame " + number(f.Seq))
		}
		if !f.Redelivered { // it was judged when it came first
			j.add(f, e)
		}
	}
	c.last = f.Seq
}

// End says that no frame of the tape will come any more.
func (c *Checker) End() {
	for _, j := range c.judges {
		j.end()
	}
}

// Next ends the tape and begins another of the same agent. Sessions go on. Counts and
// verdicts begin anew, findings are added to those before. beginning is as in Options.
func (c *Checker) Next(beginning bool) {
	c.End()
	c.tape++
	c.last = 0
	c.options.Beginning = beginning
	clear(c.verdicts)
	c.replays.Clear()
	for _, j := range c.judges {
		j.next()
	}
}

// Findings returns what was found so far, in the order in which it was found: what the
// end of a connection proves stands behind its frames. Of one rule, by one side, on one
// tape there are at most 1,000. The list is valid until the next call of Add, End or Next.
func (c *Checker) Findings() []Finding { return c.findings }

// Connection returns what both sides said of themselves, as the client saw it.
func (c *Checker) Connection() dialect.Connection { return c.judges[0].conn.Connection }

// ConnectionOf returns what both sides said of themselves, as Client or Agent saw it.
func (c *Checker) ConnectionOf(side Fault) dialect.Connection {
	for _, j := range c.judges {
		if j.side == side {
			return j.conn.Connection
		}
	}
	return c.Connection()
}

// A Verdict is what became of a rule on a tape.
type Verdict struct {
	Rule  *Rule
	Tried bool   // it had an occasion, and all that it needs to judge it
	Open  string // why it could not judge an occasion, such as "28 bytes are missing at frame 77"; empty: it could
	Found int    // findings, also those that are not kept
	Lost  int    // of these, those beyond the first 1,000: they are only counted
}

// Verdicts returns what became of each rule on the present tape.
func (c *Checker) Verdicts() []Verdict {
	all := make([]Verdict, len(c.verdicts))
	for i, v := range c.verdicts {
		all[i] = Verdict{Rule: c.options.Rules[i], Tried: v.tried, Open: v.open}
		for _, n := range v.found {
			all[i].Found += n
			all[i].Lost += max(n-maxFindings, 0)
		}
	}
	return all
}
