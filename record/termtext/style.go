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
	Blue    Style = "34"
	Magenta Style = "35"
	Cyan    Style = "36"
)

// Paint returns text in a style, followed by the end of it.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
