package probe

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
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
	File    string   // the tape as a file, if it was written
	Frames  []uint64 // on it
	Seconds float64
	New     bool            // the case is younger than Runner.AsOf: it is held against nobody
	Fault   *report.Finding // what is not ok, as a finding of the case's Rule; nil: nothing is

	public struct { // what may leave this machine
		got  string
		told []string
	}
	found []*report.Finding // by the rules, on the tape
	lacks string            // what the model could not do; empty: nothing
}

// A cause is what results have in common that tell the same fault: the method of which an
// answer was wanted, what was wanted, and what came in its place.
type cause struct{ method, wanted, got string }

// cause returns the cause of a result that is not ok. It is not known if the peer was silent
// or gone afterwards.
func (res *Result) cause() (_ cause, ok bool) {
	if res.Outcome < Hurts || res.Outcome == Stuck || res.Step == nil || res.Step.Name == "alive" {
		return cause{}, false
	}
	step := *res.Step
	step.Name = ""                                                             // the method says what it stands for
	if step.Verb == script.Echo && strings.HasPrefix(res.Got, "not started") { // whatever else was to be seen
		return cause{got: "not started"}, true
	}
	return cause{res.Case.asked(res.Dialect, res.Step), Wanted(&step), res.Got}, true
}

// Ref names the tape for acptap show.
func (res *Result) Ref() string { return cmp.Or(res.File, res.Name) }

// shared returns the result without what must not leave this machine.
func (res *Result) shared() *Result {
	shared := *res
	shared.Got, shared.Told = res.public.got, res.public.told
	return &shared
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
	*report.Finding
	Cases []string // their ids
	First *Result  // of the tape that the Finding is on

	told *Result // not ok for the same cause; nil: none is
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

// Ok reports whether a case holds in each dialect that the peer speaks.
func (r *Report) Ok(id string) bool {
	found := false
	for i := range r.Results {
		if res := &r.Results[i]; res.Case.ID == id {
			if res.Outcome != OK && res.Outcome != Told {
				return false
			}
			found = true
		}
	}
	return found
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

// Faults returns all that is not ok: of each result, and what the rules found, with the
// result on whose tape it is. Who sets Known or Strength of one says that it does not count,
// or how much.
func (r *Report) Faults() iter.Seq2[*Result, *report.Finding] {
	return func(yield func(*Result, *report.Finding) bool) {
		for i := range r.Results {
			if res := &r.Results[i]; res.Fault != nil && !yield(res, res.Fault) {
				return
			}
		}
		for _, f := range r.Findings {
			if !yield(f.First, f.Finding) {
				return
			}
		}
	}
}

// Rest returns the findings whose cause no case tells: none that is not ok owns their rule, or
// that is known.
func (r *Report) Rest() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.told != nil && !f.told.known() })
}

// Fails reports whether something that is not known is as bad as on says.
func (r *Report) Fails(on report.FailOn) bool {
	for i := range r.Results {
		if f := r.Results[i].Fault; f != nil && !f.Known && on.Fails(&f.Finding) {
			return true
		}
	}
	return slices.ContainsFunc(r.Rest(), func(f Finding) bool { return !f.Known && on.Fails(&f.Finding.Finding) })
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
