package redact

import (
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// Field returns a value from the params or the result of a message as an export shows it:
// without what is secret there or looks secret. method is the method of the message, or of
// the request that it answers; path names the members and elements that lead to the value,
// such as mcpServers[0].env[1].value. A lone value from a list of arguments may belong to a
// flag before it, and a value to a name next to it, so these are not shown.
func Field(method, path string, value []byte) []byte {
	if !json.Valid(value) {
		return redactText(value)
	}
	steps := strings.FieldsFunc(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
	s, name := aMessage.member("params", method, '{'), ""
	for i, step := range steps {
		first := firstByte(value)
		if i+1 < len(steps) {
			first = '{'
			if isIndex(steps[i+1]) {
				first = '['
			}
		}
		list := s
		if isIndex(step) {
			s, name = s.element(first), ""
		} else {
			s, name = s.member(step, "", first), step
		}
		if list == aCommand && first == '"' && !strings.HasPrefix(strings.TrimSpace(string(value)), `"-`) {
			s = aSecret
		}
		if (step == "value" || step == "val") && first == '"' && i > 0 {
			s = aSecret
		}
	}
	return new(redactor).redact(value, s, name)
}

func isIndex(step string) bool { return strings.Trim(step, "0123456789") == "" }

// firstByte returns the first byte of a JSON value.
func firstByte(value []byte) byte {
	r := wire.Reader{Text: value}
	r.Skip(' ')
	return r.Text[r.Pos]
}
