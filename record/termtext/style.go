package termtext

// A Style is the parameters of the ECMA-48 sequence SGR.
type Style string

// The styles that there are.
const (
	Plain   Style = ""
	Bold    Style = "1"
	Dim     Style = "2"
	Reverse Style = "7"
	Red     Style = "31"
	Green   Style = "32"
	Yellow  Style = "33"
	Blue    Style = "94" // the bright one: the other cannot be read on black
	Magenta Style = "35"
	Cyan    Style = "36"
	Azure   Style = "96" // the bright cyan
)

// The roles of styles: what a hue means, wherever it is seen. Nothing is told by a hue
// alone.
const (
	Conversation = Green
	Tools        = Cyan
	Servers      = Azure  // that an agent calls for the sake of a tool
	Permission   = Yellow // also: somebody is waited for
	Services     = Magenta
	LifeCycle    = Blue
	Failure      = Red
	Repeats      = Dim // what the lines above have said, or what is in order
)

// Paint returns text in a style, followed by the end of it.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
