package probe

import (
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/script"
)

// An Outcome says how a case ended.
type Outcome uint8

// The outcomes, best first as far as they compare.
const (
	OK         Outcome = iota
	NotOffered         // the peer does not offer what the case is about
	NotTried           // it could not be decided
	Told               // what the peer does is told, and held against nobody
	Hurts              // allowed, but a named peer breaks on it
	Weak               // against what should be
	Broken             // against what must be
	Stuck              // a fault of acptap's, or of the machine
)

var outcomeNames = [...]string{"ok", "not offered", "not tried", "told", "hurts", "weak", "broken", "stuck"}

func (o Outcome) String() string { return wire.Name(outcomeNames[:], uint8(o)) }

// MarshalText returns the name of the outcome.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the name of an outcome.
func (o *Outcome) UnmarshalText(text []byte) error {
	return wire.ParseName(outcomeNames[:], "outcome", text, (*uint8)(o))
}

// A Result is how a case ended with a peer.
type Result struct {
	Case    *Case
	Dialect dialect.Dialect
	Outcome Outcome
	Step    *script.Step // the line that decided it; nil: none did
	Got     string       // what came instead, or why it was not tried
	Told    []string     // what came where the case only tells
	Times   int          // of Case.Repeat, how often it ended so
	Runs    int
	Slow    bool     // something came too late at first, and in time alone
	Tape    string   // the tape of the run that decided it; empty: none
	Name    string   // the tape's name
	Frames  []uint64 // on it
	Seconds float64
}

// outcome returns what a missed line of a tier means.
func outcome(t script.Tier) Outcome {
	switch t {
	case script.Must:
		return Broken
	case script.Should:
		return Weak
	case script.Hurts:
		return Hurts
	}
	return Told
}

// A Finding is what rules found on the tapes of a run's cases, grouped by rule and strength.
type Finding struct {
	*conform.Finding
	Cases []string // their ids
	Tape  string   // the name of the first tape
}

// A Report is what a run found.
type Report struct {
	Run      string
	Kind     Kind
	Command  []string
	Name     string // what the peer calls itself
	Version  string
	Dialects []dialect.Dialect // those that it speaks
	Results  []Result
	Findings []Finding
	Sessions int      // that were made and could not be deleted
	Login    []string // methods that the peer offers; empty: it wants no login
	Walled   bool     // it wants a login
	Seconds  float64
}

// Count returns the number of results with an outcome.
func (r *Report) Count(o Outcome) (n int) {
	for i := range r.Results {
		if r.Results[i].Outcome == o {
			n++
		}
	}
	return n
}

// Worst returns the greatest strength of what was found: of the results and of the
// findings. None means that all is well.
func (r *Report) Worst() conform.Strength {
	worst := conform.None
	for i := range r.Results {
		worst = max(worst, r.Results[i].Outcome.Strength())
	}
	for _, f := range r.Findings {
		worst = max(worst, f.Strength)
	}
	return worst
}

// Strength returns the strength of a finding that weighs as much.
func (o Outcome) Strength() conform.Strength {
	switch o {
	case Broken:
		return conform.Violation
	case Weak:
		return conform.Warning
	case Hurts:
		return conform.Hurts
	}
	return conform.None
}
