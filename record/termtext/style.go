package termtext

// A Style is the parameters of the ECMA-48 sequence SGR.
type Style string

// The styles.
const (
	Plain   Style = ""
	Bold    Style = "1"
	Dim     Style = "2"
	Reverse Style = "7"
	Red     Style = "31"
	Green   Style = "32"
	Yellow  Style = "33"
	Blue    Style = "94" // the bright one: the other is unreadable on black
	Magenta Style = "35"
	Cyan    Style = "36"
	Azure   Style = "96" // the bright cyan
)

// The roles of styles: what a colour means, everywhere. No information is in the colour
// alone.
const (
	Conversation = Green
	Tools        = Cyan
	Servers      = Azure  // called by an agent for a tool
	Permission   = Yellow // also: waiting for somebody
	Services     = Magenta
	LifeCycle    = Blue
	Failure      = Red
	Repeats      = Dim // repeated from the lines above, or in order
)

// Paint returns text in a style, followed by a reset.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
