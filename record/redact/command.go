package redact

import (
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// Command returns a command line without its secrets: the values of options such as
// --token, and of variables.
func Command(command []string) []string {
	raw, err := json.Marshal(command)
	var args []string // a copy, because command's bytes would be overwritten
	if err == nil {
		err = json.Unmarshal(redactJSON(raw, aCommand), &args)
	}
	if err != nil {
		panic("redact: a command line: " + err.Error()) // strings can always be encoded
	}
	for i, arg := range args {
		if IsAssignment(arg) {
			name, _, _ := strings.Cut(arg, "=")
			args[i] = name + "=" + Placeholder
		} else {
			args[i] = variableWithin().ReplaceAllString(arg, "${1}="+Placeholder)
		}
	}
	return args
}

// variableWithin matches variables in a shell line, or in what env splits.
var variableWithin = lazyregexp.New(`((?:^|[\s;&|(="'])[A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|[^\s;&|)"']+)`)

// IsAssignment reports whether a word of a command line assigns a value to an environment
// variable, as in NAME=value.
func IsAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && !('0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z')
	})
}
