package redact

import (
	"encoding/json"
	"strings"
)

// Command returns a command line without its secrets: what options such as
// --token are given, and the values of variables.
func Command(command []string) []string {
	raw, err := json.Marshal(command)
	var args []string // not command: the bytes of that would be written over
	if err == nil {
		err = json.Unmarshal(redactJSON(raw, aCommand), &args)
	}
	if err != nil {
		panic("redact: a command line: " + err.Error()) // strings always can
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

// variableWithin finds variables in the line of a shell, or in what env splits.
var variableWithin = compiledAtUse(`((?:^|[\s;&|(="'])[A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|[^\s;&|)"']+)`)

// IsAssignment reports whether a word of a command line gives an environment
// variable a value, as in NAME=value.
func IsAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && !('0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z')
	})
}
