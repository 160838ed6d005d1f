package inspect

import "strings"

// styled reads a line that was written for a terminal, with one parameter of SGR
// at a time, as Lines and trace.WriteText write them.
func styled(line string) []span {
	var spans []span
	look := plain
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			spans = append(spans, span{look, text})
		}
		if !found {
			break
		}
		param, after, _ := strings.Cut(rest, "m")
		if look = style(param); param == "0" {
			look = plain
		}
		line = after
	}
	return spans
}
