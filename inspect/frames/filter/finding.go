package filter

import "slices"

// A Finding is what a rule says about a frame. The words of a query ask of each finding
// by itself: rule:ACP44* by:agent fits a frame of which one finding is of such a rule,
// and one, maybe another, is the agent's.
type Finding struct {
	Rule     string // the id, such as ACP441
	Name     string // cancelled-prompt
	Strength Strength
	Fault    Fault
}

// A Strength says how much a finding weighs.
type Strength uint8

// The strengths, the least first.
const (
	Note Strength = iota + 1
	Warning
	Violation
)

// A Fault says who broke a rule.
type Fault uint8

// Who it may be; zero: nobody.
const (
	ByClient Fault = iota + 1
	ByAgent
)

// strengthOf returns the strength that a word of the set state stands for.
func strengthOf(word uint8) Strength {
	return Violation - Strength(word-violation)
}

func hasFinding(s *Subject, fits func(Finding) bool) bool {
	return slices.ContainsFunc(s.Findings, fits)
}

// A ruleTest asks for a rule that is broken.
type ruleTest struct{ pattern pattern }

func ruleTerm(w written, _ string) (test, string) {
	p, problem := patternOf(w, globs)
	return ruleTest{p}, problem
}

func (ruleTest) needs() needs { return ofFindings }

func (t ruleTest) fits(s *Subject) verdict {
	return sure(hasFinding(s, func(f Finding) bool { return t.pattern.match(f.Rule) || t.pattern.match(f.Name) }))
}
