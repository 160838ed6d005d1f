package filter

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
