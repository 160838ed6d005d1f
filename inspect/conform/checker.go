package conform

import (
	"cmp"
	"time"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Grace is the default time within which two frames in opposite directions may have
// crossed. A proxy knows when it forwarded a frame, not when the peer read it.
const Grace = 250 * time.Millisecond

// maxFindings limits the findings kept in full per rule, side and tape.
const maxFindings = 1000

// Options hold what the caller knows about the tapes.
type Options struct {
	Protocol dialect.Protocol // AnyProtocol: detected from the traffic

	// Beginning says that frame 1 of the tape is the first of its connection, because
	// acptap recorded the tape. Otherwise only a tape that starts with initialize counts
	// as complete.
	Beginning bool

	// Between says that acptap may have made, changed or withheld frames. The tape is
	// then judged twice in one pass: as the client saw it, blaming only the client, and
	// as the agent saw it. If Between is not set, judging stops at the first such frame.
	Between bool

	// Own also judges what acptap made. It is for acptap's own tests.
	Own bool

	Grace time.Duration // 0: Grace
	Rules []*Rule       // nil: all
}

// A Checker judges the frames of a tape, or of several tapes of one agent in succession.
// It accepts any frame. Its memory is bounded, and forgetting never makes it accuse
// anyone. It is not safe for concurrent use.
type Checker struct {
	options  Options
	judges   []*judge
	verdicts []verdict // for the tape, one per rule
	findings []Finding
	replays  bounded.Map[uint64, replay] // on the tape, by the Seq of their requests
	namings  bounded.Map[uint64, naming] // likewise
	tape     int
	last     uint64 // Seq of the tape's last frame
}

// A verdict is a rule's result on a tape.
type verdict struct {
	tried bool
	open  string          // the first reason why the rule could not be judged where it applied
	later bool            // only the end of the connection decides the latest case
	found [Acptap + 1]int // by culprit
}

// NewChecker returns a Checker positioned at the beginning of a tape.
func NewChecker(o Options) *Checker {
	if o.Grace == 0 {
		o.Grace = Grace
	}
	if o.Rules == nil {
		o.Rules = Rules()
	}
	c := &Checker{options: o, verdicts: make([]verdict, len(o.Rules)), replays: newReplays(), namings: newNamings()}
	sides := []Fault{Sender}
	if o.Between {
		sides = []Fault{Client, Agent}
	}
	for _, side := range sides {
		c.judges = append(c.judges, newJudge(c, side))
	}
	return c
}

// Add judges the tape's next frame, with its bytes. It keeps no reference to them.
func (c *Checker) Add(f *dialect.Frame) {
	var e wire.Envelope
	switch f.Kind {
	case wire.Stderr, wire.Mark, wire.Batch, wire.Invalid, wire.Body:
	case wire.Oversized: // a tape hands out only the beginning
		e = wire.ScanPrefix(f.Raw[:min(len(f.Raw), wire.MaxChecked)])
	default:
		e = wire.Scan(f.Raw)
	}
	jumped := f.Seq != c.last+1 && c.last != 0
	for _, j := range c.judges {
		if jumped {
			j.conn.gap("frames are missing before frame " + number(f.Seq))
		}
		if !f.Redelivered { // it was judged when first delivered
			j.add(f, e)
		}
	}
	c.last = f.Seq
}

// End marks the tape as finished.
func (c *Checker) End() {
	for _, j := range c.judges {
		j.end()
	}
}

// Next ends the tape and starts another one of the same agent. Sessions continue. Counts
// and verdicts restart, findings accumulate. beginning is as in Options.
func (c *Checker) Next(beginning bool) {
	c.End()
	c.tape++
	c.last = 0
	c.options.Beginning = beginning
	clear(c.verdicts)
	c.replays.Clear()
	c.namings.Clear()
	for _, j := range c.judges {
		j.next()
	}
}

// Findings returns all findings so far in the order in which they were made: those that
// only the end of a connection proves come after its frames. There are at most 1,000 per
// rule, side and tape. The list is valid until the next call of Add, End or Next.
func (c *Checker) Findings() []Finding { return c.findings }

// Connection returns what both sides said about themselves, as the client saw it.
func (c *Checker) Connection() dialect.Connection { return c.judges[0].conn.Connection }

// ConnectionOf returns what both sides said about themselves, as seen by side, which is
// Client or Agent.
func (c *Checker) ConnectionOf(side Fault) dialect.Connection {
	for _, j := range c.judges {
		if j.side == side {
			return j.conn.Connection
		}
	}
	return c.Connection()
}

// A Verdict is a rule's result on a tape.
type Verdict struct {
	Rule  *Rule
	Tried bool   // the rule applied, and could be judged
	Open  string // why a case could not be judged, such as "28 bytes are missing at frame 77"; empty: all could
	Found int    // number of findings
	Lost  int    // findings beyond the first 1,000, which are only counted
}

// Verdicts returns each rule's result on the current tape.
func (c *Checker) Verdicts() []Verdict {
	all := make([]Verdict, len(c.verdicts))
	for i, v := range c.verdicts {
		all[i] = Verdict{Rule: c.options.Rules[i], Tried: v.tried, Open: v.open}
		if v.later {
			all[i].Open = cmp.Or(v.open, endMissing)
		}
		for _, n := range v.found {
			all[i].Found += n
			all[i].Lost += max(n-maxFindings, 0)
		}
	}
	return all
}
