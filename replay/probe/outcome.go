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

// An Outcome is how a case ended.
type Outcome uint8

// The outcomes; those that can be ranked are sorted from best to worst.
const (
	OK         Outcome = iota
	NotOffered         // the peer does not offer the feature under test
	NotTried           // the case could not be decided
	Told               // the specification leaves it open, so it is only reported
	Hurts              // allowed, but a named peer breaks on it
	Weak               // violates a SHOULD
	Broken             // violates a MUST
	Stuck              // acptap or the machine failed
)

var outcomeNames = [...]string{"ok", "not offered", "not tried", "told", "hurts", "weak", "broken", "stuck"}

func (o Outcome) String() string { return wire.Name(outcomeNames[:], uint8(o)) }

// MarshalText returns the name of the outcome.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the name of an outcome.
func (o *Outcome) UnmarshalText(text []byte) error {
	return wire.ParseName(outcomeNames[:], "outcome", text, (*uint8)(o))
}

// A Result is the outcome of a case with a peer.
type Result struct {
	Case    *Case
	Dialect dialect.Dialect
	Outcome Outcome
	Step    *script.Step // the decisive step, or nil
	Got     string       // what came instead, or why the case was not tried
	Told    []string     // what came at steps that only report
	Times   int          // how many of Case.Repeat runs ended this way
	Runs    int
	Slow    bool     // a wait timed out at first, but not when the case ran alone
	Tape    string   // the tape of the decisive run, or empty
	Name    string   // the tape's name
	File    string   // the file of the tape, if one was written
	Frames  []uint64 // the frames of the tape that show the outcome
	Seconds float64
	New     bool            // the case is newer than Runner.AsOf and does not count as a fault
	Fault   *report.Finding // the failure as a finding of the case's Rule, or nil

	public struct { // the part that may leave this machine
		got  string
		told []string
	}
	found []*report.Finding // rule findings on the tape
	lacks string            // what the model could not do, or ""
}

// A cause identifies a fault that several results share: the method whose answer was expected,
// what was expected, and what came instead.
type cause struct{ method, wanted, got string }

// cause returns the cause of a failed result. ok is false if the peer was silent or gone after
// the fault.
func (res *Result) cause() (_ cause, ok bool) {
	if res.Outcome < Hurts || res.Outcome == Stuck || res.Step == nil || res.Step.Name == "alive" {
		return cause{}, false
	}
	step := *res.Step
	step.Name = ""                                                             // the method identifies the request
	if step.Verb == script.Echo && strings.HasPrefix(res.Got, "not started") { // the rest follows from that
		return cause{got: "not started"}, true
	}
	return cause{res.Case.asked(res.Dialect, res.Step), Wanted(&step), res.Got}, true
}

// Ref returns the name or file of the tape for acptap show.
func (res *Result) Ref() string { return cmp.Or(res.File, res.Name) }

// shared returns a copy of the result without what must not leave this machine.
func (res *Result) shared() *Result {
	shared := *res
	shared.Got, shared.Told = res.public.got, res.public.told
	return &shared
}

// outcome returns the outcome of a case that missed a line of tier t.
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

// A Finding is a rule finding on the tapes of a run's cases, grouped by rule and strength.
type Finding struct {
	*report.Finding
	Cases []string // IDs of the cases
	First *Result  // the result whose tape the Finding is on

	told *Result // a failed result with the same cause, or nil
}

// A Report is the result of a run.
type Report struct {
	Run      string
	Kind     Kind
	Command  []string
	Name     string // the peer's name for itself
	Version  string
	Dialects []dialect.Dialect // the dialects that the peer speaks
	Results  []Result
	Findings []Finding
	Sessions int      // sessions that were created and could not be deleted
	Login    []string // login methods that the peer offers
	Walled   bool     // the peer requires a login
	Seconds  float64
}

// Ok reports whether a case passed in every dialect that the peer speaks.
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

// Faults yields all failed results and rule findings, each finding with the result whose tape
// it is on. Callers may set Known or Strength to dismiss or downgrade a fault.
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

// Rest returns the findings that no failed case explains. A case whose fault is known explains
// none.
func (r *Report) Rest() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.told != nil && !f.told.known() })
}

// Fails reports whether a fault that is not known reaches on.
func (r *Report) Fails(on report.FailOn) bool {
	for i := range r.Results {
		if f := r.Results[i].Fault; f != nil && !f.Known && on.Fails(&f.Finding) {
			return true
		}
	}
	return slices.ContainsFunc(r.Rest(), func(f Finding) bool { return !f.Known && on.Fails(&f.Finding.Finding) })
}

// Strength returns the finding strength that corresponds to o.
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
