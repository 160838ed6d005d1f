package filter

// A Finding is what a rule says about a frame. Each word of a query looks for a finding of
// its own: rule:ACP44* by:agent fits a frame with one finding of such a rule and one,
// perhaps another, that blames the agent.
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

// The sides; zero is neither.
const (
	ByClient Fault = iota + 1
	ByAgent
)
