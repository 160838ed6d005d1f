package summary

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// isRetry reports whether the title of a later tool call is the command of an earlier one
// again, apart from flags and from what a shell is told first: cargo test -p x after cargo
// test. Both must begin with the same program and the same subcommand.
func isRetry(before, after string) bool {
	a, b := commandOf(before), commandOf(after)
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 2 || a[0] != b[0] || a[1] != b[1] || isFlag(a[0]) || isFlag(a[1]) {
		return false
	}
	for i, word := range b {
		switch {
		case len(a) > 0 && a[0] == word:
			a = a[1:]
		case isFlag(word), isFlag(b[i-1]): // or the value of one
		default:
			return false
		}
	}
	return len(a) == 0
}

func isFlag(word string) bool { return strings.HasPrefix(word, "-") }

// commandOf returns the words of a command line, without a prompt, a shell that runs it, a
// change of directory and variables before it.
func commandOf(line string) []string {
	words := strings.Fields(strings.NewReplacer("`", "", `"`, "", "'", "").Replace(line))
	for len(words) > 0 {
		switch word := words[0]; {
		case word == "$", word == "env", strings.Contains(word, "=") && !isFlag(word):
			words = words[1:]
		case word == "cd":
			end := slices.Index(words, "&&")
			if end < 0 {
				return words
			}
			words = words[end+1:]
		case slices.Contains([]string{"sh", "bash", "zsh"}, word[strings.LastIndexByte(word, '/')+1:]) && len(words) > 2 && isFlag(words[1]) && strings.HasSuffix(words[1], "c"):
			words = words[2:]
		default:
			return words
		}
	}
	return words
}

// exitsWell reports whether an update of a tool call says that its command exited with 0.
func exitsWell(update []byte) bool {
	code, ok := exitCode(wire.Get(update, "rawOutput"))
	return ok && code == 0
}
